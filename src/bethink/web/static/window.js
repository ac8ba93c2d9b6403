// All of the window's own script: keys, the strip of time, copying. Every page works without it.
"use strict"

// Moving along the strip sets the moment to look from; letting go asks again. At its end, the moment is now.
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
      out.textContent = now ? "until now" : "on " + text
      range.setAttribute("aria-valuetext", now ? "now" : text)
    }
    range.addEventListener("input", choose)
    const ask = () => { if (at.form.querySelector("[name=q]").value) at.form.requestSubmit() }
    range.addEventListener("change", () => { choose(); ask() })
    at.addEventListener("change", ask)
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

const all = selector => [...document.querySelectorAll(selector)].filter(each => each.checkVisibility())
const typing = element => element.matches("input:not([type=checkbox]), select, textarea, [contenteditable]")
let begun = ""

function help() {
  const dialog = document.getElementById("keys")
  if (dialog.open) return dialog.close()
  const list = document.createElement("dl")
  const line = (key, text) => {
    const term = document.createElement("dt"), said = document.createElement("dd")
    for (const each of key.split(" ")) term.append(Object.assign(document.createElement("kbd"), { textContent: { ArrowLeft: "←", ArrowRight: "→" }[each] || each }))
    said.textContent = text.trim().slice(0, 60)
    list.append(term, said)
  }
  for (const each of all("[data-key]")) line(each.dataset.key, each.dataset.name || each.getAttribute("aria-label") || each.textContent)
  if (all("[data-row]").length) line("j k", "next and previous row")
  line("?", "this list")
  const title = Object.assign(document.createElement("h2"), { textContent: "Keys" })
  const close = Object.assign(document.createElement("button"), { className: "btn", textContent: "Close", type: "button" })
  close.addEventListener("click", () => dialog.close())
  dialog.replaceChildren(title, list, close)
  dialog.showModal()
}

function move(by) {
  const rows = all("[data-row]"), here = rows.indexOf(document.activeElement)
  const next = rows[Math.min(Math.max(here + by, 0), rows.length - 1)]
  if (next) { next.focus(); next.scrollIntoView({ block: "nearest" }) }
}

document.addEventListener("keydown", event => {
  if (event.metaKey || event.ctrlKey || event.altKey || event.defaultPrevented || typing(event.target) || document.getElementById("keys").open) return
  const key = begun ? begun + " " + event.key : event.key
  begun = ""
  if (key === "?") { event.preventDefault(); return help() }
  if (key === "j" || key === "k") { event.preventDefault(); return move(key === "j" ? 1 : -1) }
  if (key === "g") { begun = "g"; setTimeout(() => { begun = "" }, 1500); return }
  const found = all(`[data-key="${CSS.escape(key)}"]`)[0]
  if (!found) return
  event.preventDefault()
  typing(found) ? (found.focus(), found.select()) : found.click()
})

document.addEventListener("click", event => { if (event.target.closest(".help")) help() })
const ready = () => { for (const each of document.querySelectorAll(".help")) each.hidden = false }
ready()

// After a line was chosen, go on reading at where it comes from. What was chosen is replaced, so it hears of no swap.
let next = ""
document.addEventListener("htmx:before:swap", event => { next = event.detail?.ctx?.sourceElement?.dataset?.focus || "" })
new MutationObserver(() => {
  ready()
  if (next) document.querySelector(next)?.focus({ preventScroll: innerWidth > 760 })
  next = ""
}).observe(document.body, { childList: true, subtree: true })
