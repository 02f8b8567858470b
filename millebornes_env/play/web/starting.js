// Message for pages opened from a file, where modules cannot run.
if (location.protocol === "file:") {
  document.getElementById("status").textContent =
    "A browser runs no modules from a file: type “python -m millebornes_env play”, or serve this folder " +
    "with “python -m http.server” and open the address that it shows.";
}
