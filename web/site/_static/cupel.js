// Makes the site work by keyboard: the buttons of the drawers, and each part of a page that scrolls by itself.
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  for (const button of document.querySelectorAll("button[data-drawer]")) {
    const drawer = document.getElementById(button.dataset.drawer);
    const show = () => button.setAttribute("aria-expanded", String(drawer.checked));
    button.addEventListener("click", () => {
      drawer.checked = !drawer.checked;
      drawer.dispatchEvent(new Event("change"));
    });
    drawer.addEventListener("change", show);
    show();
  }
  const scrolled = document.querySelectorAll("article pre, article .table-wrapper");
  const mark = () => {
    for (const one of scrolled) {
      if (one.scrollWidth > one.clientWidth) one.setAttribute("tabindex", "0");
      else one.removeAttribute("tabindex");
    }
  };
  addEventListener("resize", mark);
  mark();
});
