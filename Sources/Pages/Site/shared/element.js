// Builds elements. Text is only ever set as text, so that no name can become markup.

/**
 * An element with attributes, listeners (`on`), and children; strings become text.
 *
 * False, null and undefined attributes are left out, true ones are set empty.
 */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === 'on') {
      for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    } else if (value !== false && value !== null && value !== undefined) {
      element.setAttribute(name, value === true ? '' : String(value));
    }
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** A field of a form with its label. */
export function labelled(text, field) {
  return h('label', { class: 'choice' }, h('span', { class: 'soft' }, text), field);
}

/** Sets a text where it differs, so that nothing is laid out or read aloud for no reason. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Shows or hides an element. */
export function show(element, isShown) {
  if (element.hidden === isShown) element.hidden = !isShown;
}

/**
 * Makes the children of an element those of a list: each made once, updated each time, removed when it is gone.
 *
 * @param key Names an item.
 * @param create Makes the element of an item; `update` gets that element and the item.
 */
export function keyed(parent, items, key, create, update) {
  const made = new Set();
  const present = new Map([...parent.children].map((child) => [child.dataset.key, child]));
  let place = parent.firstElementChild;
  for (const item of items) {
    const name = String(key(item));
    // Of two items with one name only the first is shown.
    if (made.has(name)) continue;
    made.add(name);
    let child = present.get(name);
    if (child) {
      present.delete(name);
    } else {
      child = create(item);
      child.dataset.key = name;
    }
    if (child === place) place = place.nextElementSibling;
    else parent.insertBefore(child, place);
    update(child, item);
  }
  for (const child of present.values()) child.remove();
}

const paths = {
  play: 'M8 5v14l11-7z',
  pause: 'M7 5h4v14H7zm6 0h4v14h-4z',
  sound: 'M4 9v6h4l5 4V5L8 9zm11.5 3a4 4 0 0 0-2-3.5v7a4 4 0 0 0 2-3.5zm-2-8v2.1a6 6 0 0 1 0 11.8V20a8 8 0 0 0 0-16z',
  muted: 'M4 9v6h4l5 4V5L8 9zm16.5.9-1.4-1.4-2.1 2.1-2.1-2.1-1.4 1.4 2.1 2.1-2.1 2.1 1.4 1.4 2.1-2.1 2.1 2.1 1.4-1.4-2.1-2.1z',
  fullscreen: 'M5 5h6v2H7v4H5zm8 0h6v6h-2V7h-4zM5 13h2v4h4v2H5zm12 0h2v6h-6v-2h4z',
  shrink: 'M9 5h2v6H5V9h4zm4 0h2v4h4v2h-6zM5 13h6v6H9v-4H5zm8 0h6v2h-4v4h-2z',
  mic: 'M12 14a3 3 0 0 0 3-3V6a3 3 0 0 0-6 0v5a3 3 0 0 0 3 3zm5-3a5 5 0 0 1-10 0H5a7 7 0 0 0 6 6.9V21h2v-3.1A7 7 0 0 0 19 11z',
  camera: 'M4 6h11a1 1 0 0 1 1 1v3.5L20 7v10l-4-3.5V17a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1V7a1 1 0 0 1 1-1z',
  screen: 'M3 5h18v12h-7v2h3v1.5H7V19h3v-2H3zm2 2v8h14V7z',
  retry: 'M12 5V2L7.5 6.5 12 11V7a5 5 0 1 1-5 5H5a7 7 0 1 0 7-7z',
  back: 'M14.5 5 16 6.5 10.5 12l5.5 5.5-1.5 1.5-7-7z',
  open: 'M5 5h6v2H7v10h10v-4h2v6H5zm8 0h6v6h-2V8.4l-6.3 6.3-1.4-1.4L15.6 7H13z',
  code: 'M4 4h7v7H4zm2 2v3h3V6zm7-2h7v7h-7zm2 2v3h3V6zM4 13h7v7H4zm2 2v3h3v-3zm7-2h3v3h-3zm4 0h3v3h-3zm-4 4h3v3h-3zm4 0h3v3h-3z',
  download: 'M11 4h2v8.2l3.1-3.1 1.4 1.4L12 16l-5.5-5.5 1.4-1.4 3.1 3.1zM5 18h14v2H5z',
  sun: 'M12 7a5 5 0 1 0 0 10 5 5 0 0 0 0-10zM11 2h2v3h-2zm0 17h2v3h-2zM2 11h3v2H2zm17 0h3v2h-3zM4.2 5.6l1.4-1.4 2.1 2.1-1.4 1.4zm12.1 12.1 1.4-1.4 2.1 2.1-1.4 1.4zM5.6 19.8l-1.4-1.4 2.1-2.1 1.4 1.4zM17.7 7.7l-1.4-1.4 2.1-2.1 1.4 1.4z',
};

const namespace = 'http://www.w3.org/2000/svg';

/** An element of a drawing. */
export function vector(tag, attributes, ...children) {
  const element = document.createElementNS(namespace, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** A symbol, which says nothing to a screen reader. */
export function icon(name) {
  return vector('svg', { viewBox: '0 0 24 24', class: 'icon', 'aria-hidden': 'true', 'data-name': name },
    vector('path', { d: paths[name] }));
}

/** Changes the symbol of a button. */
export function setIcon(button, name) {
  const present = button.querySelector('svg');
  if (present?.dataset.name !== name) present?.replaceWith(icon(name));
}
