(function () {
  "use strict";
  document.documentElement.classList.add("js");
  var words = document.getElementById("words"), verdict = document.getElementById("verdict");
  var shown = document.getElementById("shown");
  var rows = Array.prototype.slice.call(document.querySelectorAll("#cases tbody tr"));
  function apply() {
    var wanted = words.value.toLowerCase().split(/\s+/), count = 0;
    rows.forEach(function (row) {
      var text = row.textContent.toLowerCase();
      var ok = (!verdict.value || row.dataset.verdict === verdict.value) &&
        wanted.every(function (word) { return text.indexOf(word) >= 0; });
      row.hidden = !ok;
      count += ok ? 1 : 0;
    });
    shown.textContent = count + " of " + rows.length + " cases shown";
  }
  words.addEventListener("input", apply);
  verdict.addEventListener("change", apply);
  apply();
  function reveal() {
    var id = decodeURIComponent(location.hash.slice(1));
    var found = id && document.getElementById(id);
    if (!found) { return; }
    if (found.closest("details")) { found.closest("details").open = true; }
    found.scrollIntoView();
  }
  window.addEventListener("hashchange", reveal);
  reveal();
  window.addEventListener("beforeprint", function () {
    document.querySelectorAll("details").forEach(function (one) { one.open = true; });
  });
})();
