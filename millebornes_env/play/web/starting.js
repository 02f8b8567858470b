// What can be said before the page's modules run, or where they cannot.
if (location.protocol === "file:") {
  document.getElementById("status").textContent =
    "A browser runs no modules from a file: type “python -m millebornes_env play”, or serve this folder " +
    "with “python -m http.server” and open the address that it shows.";
}
