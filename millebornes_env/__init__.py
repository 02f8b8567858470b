"""The card game Mille Bornes as a fast, vectorised environment for machine learning."""
