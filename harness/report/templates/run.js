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
    shown.textContent = count + " of " + rows.length + (rows.length === 1 ? " case" : " cases") + " shown";
  }
  words.addEventListener("input", apply);
  verdict.addEventListener("change", apply);
  apply();
})();
