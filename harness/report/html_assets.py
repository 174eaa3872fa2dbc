"""Style and script of the HTML report. Both go into the page: it loads nothing.

The page is whole without the script, which adds the filter and opens everything before printing.
"""

from __future__ import annotations

__all__ = ["SCRIPT", "STYLE"]

STYLE = """
:root{color-scheme:light dark;--ground:#fff;--panel:#f6f8fa;--ink:#1f2328;--soft:#57606a;--line:#d0d7de;
--pass:#1a7f37;--fail:#b42318;--warn:#8a5a00;--info:#0a5cad;--none:#656d76;--error:#7a3fc4;--mark:#ffe08a;
--marked-ink:#1f2328;--rest:#d8dee4}
@media (prefers-color-scheme:dark){:root{--ground:#0f141b;--panel:#171d26;--ink:#e6edf3;--soft:#9da7b1;
--line:#30394a;--pass:#56d364;--fail:#ff8a80;--warn:#e3b341;--info:#79b8ff;--none:#8b949e;--error:#c297ff;
--mark:#8a6100;--marked-ink:#fff;--rest:#2a3240}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--ink);
font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif}
main,header,footer{max-width:1100px;margin:0 auto;padding:0 20px}
header{padding-top:22px}
h1{font-size:30px;line-height:1.15;margin:0;letter-spacing:.01em}
h1 small{font-size:15px;font-weight:400;color:var(--soft);white-space:nowrap}
h2{font-size:20px;margin:34px 0 8px}
h3{font-size:15px;margin:18px 0 6px}
h2 small{font-size:14px;font-weight:400;color:var(--soft)}
p{margin:6px 0}a{color:var(--info)}
code,pre,.mono{font-size:13px;
font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
.why{font-size:16px;margin:4px 0 8px;overflow-wrap:anywhere}
.about{color:var(--soft);font-size:14px;overflow-wrap:anywhere}
.counts{display:flex;flex-wrap:wrap;gap:6px 18px;padding:0;margin:10px 0 4px;list-style:none}
.counts b{font-size:17px}
.pass{color:var(--pass)}.fail,.xpass{color:var(--fail)}.blocked,.flaky,.not-run,.xfail,.quirk{
color:var(--warn)}
.deviates,.observed{color:var(--info)}.unsupported{color:var(--none)}.error{color:var(--error)}
table{border-collapse:collapse;width:100%;font-size:14px}
th,td{text-align:left;padding:5px 14px 5px 0;border-bottom:1px solid var(--line);vertical-align:top}
thead th{color:var(--soft);font-weight:600}tbody th{font-weight:500}
td.number,th.number{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
td.mono,th.mono{overflow-wrap:anywhere}.scroll td:first-child{white-space:nowrap}
.chapters td,.chapters th{padding-top:4px;padding-bottom:4px;vertical-align:middle}
.chapters th[scope=row]{white-space:nowrap}
.chapters{table-layout:fixed}.chapters th:first-child{width:17%}.chapters .bars{width:36%}
.chapters th:nth-child(2){width:36%}.chapters th:nth-child(3){width:10%}.chapters th:nth-child(5){width:9%}
.chapters td.bars{padding-right:20px}
.bar{display:flex;height:12px;min-width:120px;border-radius:3px;overflow:hidden;background:var(--rest)}
.bar i{display:block;background:currentColor;border-right:1px solid var(--ground)}
.bar i:last-child{border-right:0}
.bar .blocked,.bar .flaky{background:repeating-linear-gradient(45deg,currentColor 0 3px,transparent 3px 6px)}
.bar .fail{background:currentColor}
details{border:1px solid var(--line);border-radius:6px;margin:8px 0;background:var(--panel)}
summary{padding:9px 12px;cursor:pointer;overflow-wrap:anywhere}
summary:focus-visible,input:focus-visible,select:focus-visible,pre:focus-visible,.scroll:focus-visible{
outline:2px solid var(--info);outline-offset:1px}
summary .level{float:right;color:var(--soft);font-size:13px;margin-left:12px}
summary .line{display:block;color:var(--ink);font-size:14px;margin-top:2px}
.inside{padding:2px 14px 14px;border-top:1px solid var(--line)}
ul.inside{margin:0;padding:8px 14px 10px 30px}
dl.facts{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:5px 16px;margin:12px 0}
dl.facts dt{color:var(--soft)}dl.facts dd{margin:0;overflow-wrap:anywhere;white-space:pre-wrap}
figure{margin:10px 0}figcaption{color:var(--soft);font-size:13px;margin-bottom:3px}
pre{margin:0;padding:10px 12px;background:var(--ground);border:1px solid var(--line);border-radius:6px;
overflow-x:auto;line-height:1.45}
.hex .offset{color:var(--soft)}mark{background:var(--mark);color:var(--marked-ink);border-radius:2px}
.scroll{overflow-x:auto;border:1px solid var(--line);border-radius:6px;background:var(--ground)}
.scroll table td,.scroll table th{padding-left:12px}.scroll svg{display:block}
tr.decisive td,tr.decisive th{background:var(--mark);color:var(--marked-ink)}
.filter{display:none;gap:10px;flex-wrap:wrap;align-items:center;margin:8px 0}.js .filter{display:flex}
.filter input,.filter select{font:inherit;color:inherit;background:var(--ground);border:1px solid var(--line);
border-radius:6px;padding:6px 9px}
.filter input{flex:1 1 220px;min-width:0}.filter output{color:var(--soft)}
.quiet{color:var(--soft)}
footer{padding-top:28px;padding-bottom:40px;color:var(--soft);font-size:13px;overflow-wrap:anywhere}
@media (max-width:640px){
body{font-size:15px}main,header,footer{padding-left:14px;padding-right:14px}header{padding-top:14px}
h1{font-size:25px}h1 small{display:block}
.counts{gap:2px 14px}
.chapters,.chapters tbody{display:block}.chapters thead{display:none}
.chapters tr{display:grid;
grid-template-columns:1fr auto auto;gap:0 12px;padding:5px 0;border-bottom:1px solid var(--line)}
.chapters td,.chapters th{border:0;padding:0}
.chapters td.bars{width:auto;padding:2px 0}.chapters .bars{grid-column:1/4;grid-row:2;padding:2px 0}
.chapters .rest{grid-column:1/4;grid-row:3}.chapters .rest:empty{display:none}
.bar{height:9px}.chapters .time{color:var(--soft)}
.list,.list tbody{display:block}.list thead{display:none}
.list tr{display:block;padding:7px 0;border-bottom:1px solid var(--line)}.list tr[hidden]{display:none}
.list td,.list th{display:block;border:0;padding:0}.list td.number{text-align:left;color:var(--soft)}
.list td[data-name]::before{content:attr(data-name) " ";color:var(--soft);font-weight:400}
dl.facts{grid-template-columns:1fr;gap:0}dl.facts dd{margin-bottom:8px}
}
@media print{
:root{color-scheme:light;--ground:#fff;--panel:#fff;--ink:#000;--soft:#444;--line:#bbb;--pass:#1a6b2f;--fail:#a01b10;
--warn:#704800;--info:#0a4c8f;--none:#555;--error:#5c2d99;--mark:#ffe08a;--marked-ink:#000;--rest:#e4e4e4}
body{font-size:11pt}main,header,footer{max-width:none;padding:0}.filter,.js .filter{display:none}
h2,h3,summary{break-after:avoid}tr,dl.facts dd,svg{break-inside:avoid}
details::details-content{content-visibility:visible;display:block;height:auto}
.bar,mark,tr.decisive td,.bar i{print-color-adjust:exact;-webkit-print-color-adjust:exact}
.scroll{overflow:visible;border:0}.scroll svg{max-width:100%;height:auto}pre{white-space:pre-wrap}
}
""".strip()

SCRIPT = """
(function () {
  "use strict";
  document.documentElement.classList.add("js");
  var words = document.getElementById("words"), verdict = document.getElementById("verdict");
  var shown = document.getElementById("shown");
  var rows = Array.prototype.slice.call(document.querySelectorAll("#cases tbody tr"));
  function apply() {
    var wanted = words.value.toLowerCase().split(/\\s+/), count = 0;
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
""".strip()
