// The script of the web UI: keyboard shortcuts, the time strip, copy buttons. Every page works without it.
"use strict"

// Moving the slider sets the as-of time; releasing it repeats the search. The right end means now.
customElements.define("w-asof", class extends HTMLElement {
  connectedCallback() {
    const range = this.querySelector("input[type=range]"), at = this.querySelector("input[name=as_of]"), out = this.querySelector("output")
    const first = Date.parse(this.dataset.first), days = Number(this.dataset.days)
    range.hidden = false
    const choose = () => {
      const day = new Date(first + 864e5 * (range.value - 1))
      const now = Number(range.value) >= days
      at.value = now ? "" : day.toISOString().slice(0, 10) + " 23:59"
      const text = day.toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" })
      out.textContent = now ? "now" : text
      range.setAttribute("aria-valuetext", now ? "now" : text)
    }
    range.addEventListener("input", choose)
    const ask = () => { if (at.form.querySelector("[name=q]").value) at.form.requestSubmit() }
    range.addEventListener("change", () => { choose(); ask() })
    for (const time of this.querySelectorAll("label input")) time.addEventListener("change", ask)
  }
})

customElements.define("w-copy", class extends HTMLElement {
  connectedCallback() {
    if (!navigator.clipboard) return
    const button = document.createElement("button")
    button.type = "button"
    button.className = "copy"
    button.textContent = "copy"
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(this.getAttribute("text"))
      button.textContent = "copied"
      setTimeout(() => { button.textContent = "copy" }, 1500)
    })
    this.replaceChildren(button)
  }
})

const all = selector => [...document.querySelectorAll(selector)].filter(element => element.checkVisibility())
const typing = element => element.matches("input:not([type=checkbox]), select, textarea, [contenteditable]")
let prefix = ""

function help() {
  const dialog = document.getElementById("keys")
  if (dialog.open) return dialog.close()
  const list = document.createElement("dl")
  const line = (key, text) => {
    const term = document.createElement("dt"), description = document.createElement("dd")
    for (const part of key.split(" ")) term.append(Object.assign(document.createElement("kbd"), { textContent: { ArrowLeft: "←", ArrowRight: "→" }[part] || part }))
    description.textContent = text.trim().slice(0, 60)
    list.append(term, description)
  }
  for (const item of all("[data-key]")) line(item.dataset.key, item.dataset.name || item.getAttribute("aria-label") || item.textContent)
  if (all("[data-row]").length) line("j k", "next and previous row")
  line("?", "show this list")
  const title = Object.assign(document.createElement("h2"), { textContent: "Keyboard shortcuts" })
  const close = Object.assign(document.createElement("button"), { className: "btn", textContent: "Close", type: "button" })
  close.addEventListener("click", () => dialog.close())
  dialog.replaceChildren(title, list, close)
  dialog.showModal()
}

function move(offset) {
  const rows = all("[data-row]"), current = rows.indexOf(document.activeElement)
  const next = rows[Math.min(Math.max(current + offset, 0), rows.length - 1)]
  if (next) { next.focus(); next.scrollIntoView({ block: "nearest" }) }
}

document.addEventListener("keydown", event => {
  if (event.metaKey || event.ctrlKey || event.altKey || event.defaultPrevented || typing(event.target) || document.getElementById("keys").open) return
  const key = prefix ? prefix + " " + event.key : event.key
  prefix = ""
  if (key === "?") { event.preventDefault(); return help() }
  if (key === "j" || key === "k") { event.preventDefault(); return move(key === "j" ? 1 : -1) }
  if (key === "g") { prefix = "g"; setTimeout(() => { prefix = "" }, 1500); return }
  const target = all(`[data-key="${CSS.escape(key)}"]`)[0]
  if (!target) return
  event.preventDefault()
  typing(target) ? (target.focus(), target.select()) : target.click()
})

document.addEventListener("click", event => { if (event.target.closest(".help")) help() })
const ready = () => { for (const button of document.querySelectorAll(".help")) button.hidden = false }
ready()

// After a match is selected, focus moves to its sources. The selected element is replaced and gets no swap event.
let next = ""
document.addEventListener("htmx:before:swap", event => { next = event.detail?.ctx?.sourceElement?.dataset?.focus || "" })
new MutationObserver(() => {
  ready()
  if (next) document.querySelector(next)?.focus({ preventScroll: innerWidth > 760 })
  next = ""
}).observe(document.body, { childList: true, subtree: true })
