// Names for screen readers, and the keyboard, where the theme leaves them out.

function amend(root) {
  for (const one of root.querySelectorAll("pre > code, .md-typeset__scrollwrap")) one.tabIndex = 0;
  for (const [place, one] of [...document.querySelectorAll(".md-code__nav")].entries()) one.setAttribute("aria-label", `Code ${place + 1}`);
  for (const one of root.querySelectorAll(".md-nav[data-md-level='1'], .md-nav[data-md-level='2']")) {
    const title = one.querySelector(":scope > .md-nav__title");
    if (!title || one.hasAttribute("aria-label")) continue;
    one.removeAttribute("aria-labelledby");
    one.setAttribute("aria-label", `Pages: ${title.textContent.trim()}`);
  }
  for (const one of root.querySelectorAll(".md-search")) one.setAttribute("aria-label", "Search");
}

amend(document);
new MutationObserver(() => amend(document)).observe(document.body, {childList: true, subtree: true});
