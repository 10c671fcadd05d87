// Access tokens: those that were made here, a form for a new one, and what refuses one from now on.

import { h, keyed, labelled, setText, show } from '../shared/element.js';
import { distance } from '../shared/format.js';
import { ask } from './api.js';
import { onceShown } from './once-shown.js';
import { poll } from './poll.js';
import { perform } from './toast.js';

const roles = [
  ['operator', 'Operator: everything'], ['monitor', 'Monitor: reads rooms and figures'],
  ['participant', 'Participant: joins one room'], ['relay', 'Relay: plays the program, sends access logs'],
  ['thumbnail', 'Thumbnail: plays the program for pictures'],
];
const modes = [
  ['SEND_AND_RECV', 'Host'], ['RECV_ONLY', 'Audience'], ['SIGNALLING_ONLY', 'Neither, but may be invited'],
];
const lifetimes = [
  [6 * 3600, '6 hours'], [86_400, '1 day'], [7 * 86_400, '7 days'], [30 * 86_400, '30 days'], [90 * 86_400, '90 days'],
  [365 * 86_400, '1 year'],
];

const select = (name, options) => h('select', { class: 'pick', name },
  ...options.map(([value, text]) => h('option', { value }, text)));

/** A panel for operators. */
export function tokensPanel() {
  const list = h('ul', { class: 'outputs' });
  const empty = h('p', { class: 'soft', hidden: true }, 'No token was made here that is still good.');
  const more = h('button', { class: 'button small', type: 'button', hidden: true, on: { click: () => {
    pages += 1;
    perform(more, load);
  } } }, 'Show older tokens');
  const secret = onceShown();
  const element = h('section', { class: 'card', 'aria-labelledby': 'tokens-title' },
    h('div', { class: 'card-head' }, h('h2', { id: 'tokens-title' }, 'Tokens')), secret.element, empty, list, more,
    newToken(secret, load), otherToken(load));
  let pages = 1;

  async function load() {
    const tokens = [];
    let next = '';
    for (let page = 0; page < pages && next !== null; page += 1) {
      const query = next ? `&page_token=${encodeURIComponent(next)}` : '';
      const answer = await ask('GET', `/v1/tokens?page_size=50${query}`);
      tokens.push(...answer.tokens);
      next = answer.meta.next_page_token ?? null;
    }
    show(empty, tokens.length === 0);
    show(more, next !== null);
    keyed(list, tokens, ({ jti }) => jti, (token) => tokenRow(token, load), (row, token) => row.update(token));
  }

  return { element, close: poll(10, load) };
}

function tokenRow({ jti, identity, role, room, issued_by: maker }, load) {
  const state = h('span', { class: 'badge' });
  const facts = h('p', { class: 'soft' });
  const revoke = h('button', { class: 'button small', type: 'button', 'aria-label': `Revoke the token of ${identity}`, on: {
    click: () => {
      if (!confirm(`Revoke the token of ${identity}? It is refused from now on, and its connections end.`)) return;
      perform(revoke, async () => {
        await ask('POST', '/v1/tokens/revoke', { jti, expires_at: expiry });
        await load();
      }, 'Revoked');
    },
  } }, 'Revoke');
  const restore = h('button', { class: 'button small', type: 'button', 'aria-label': `Accept the token of ${identity} again`,
    on: { click: () => perform(restore, async () => {
      await ask('DELETE', `/v1/tokens/revoked/${encodeURIComponent(jti)}`);
      await load();
    }, 'Accepted again') } }, 'Accept again');
  let expiry = null;
  const row = h('li', { class: 'output token' },
    h('div', { class: 'host-head' }, h('span', { class: 'name' }, identity), state, h('span', { class: 'spacer' }),
      revoke, restore), facts);
  row.update = (token) => {
    expiry = token.expires_at;
    state.className = `badge ${token.revoked ? 'bad' : ''}`;
    setText(state, token.revoked ? 'revoked' : role);
    setText(facts, [
      room ? `room ${room}` : 'all rooms', `made ${distance(Date.parse(token.issued_at))} ago by ${maker}`,
      `expires in ${distance(Date.parse(expiry))}`,
    ].join(' · '));
    show(revoke, !token.revoked);
    show(restore, token.revoked);
  };
  return row;
}

/** The form for a new token, which is shown once. */
function newToken(secret, load) {
  const name = h('input', { class: 'field', name: 'identity', required: true, autocomplete: 'off', spellcheck: 'false',
    pattern: '[A-Za-z0-9_\\-]{1,64}', title: 'Letters, digits, - and _' });
  const role = select('role', roles);
  const room = h('input', { class: 'field', name: 'room', autocomplete: 'off', spellcheck: 'false',
    pattern: '[A-Za-z0-9_\\-]{1,64}', title: 'The name of a room' });
  const mode = select('mode', modes);
  const lifetime = select('lifetime', lifetimes);
  const roomField = labelled('', room);
  const modeField = labelled('Joins as', mode);
  const adapt = () => {
    show(roomField, role.value !== 'operator');
    room.required = role.value === 'participant';
    setText(roomField.firstElementChild, role.value === 'participant' ? 'Room' : 'Room, empty for all');
    show(modeField, role.value === 'participant');
  };
  role.addEventListener('change', () => {
    lifetime.value = String(role.value === 'participant' ? 6 * 3600 : 90 * 86_400);
    adapt();
  });
  const button = h('button', { class: 'button', type: 'submit' }, 'Make token');
  const form = h('form', { class: 'plan', on: { submit: (event) => {
    event.preventDefault();
    perform(button, async () => {
      const body = { identity: name.value, role: role.value, expires_in: Number(lifetime.value) };
      if (role.value !== 'operator' && room.value) body.room = room.value;
      if (role.value === 'participant') body.modes = [mode.value];
      const made = await ask('POST', '/v1/tokens', body);
      name.value = '';
      secret.present(`Token of ${made.identity}`, made.token);
      await load();
    });
  } } }, labelled('Name in the log', name), labelled('Role', role), roomField, modeField,
  labelled('Good for', lifetime), button);
  lifetime.value = String(90 * 86_400);
  adapt();
  return form;
}

/** Revokes a token that was made elsewhere, such as by `footlight token`. */
function otherToken(load) {
  const text = h('input', { class: 'field', name: 'revoked', required: true, autocomplete: 'off', spellcheck: 'false' });
  const button = h('button', { class: 'button', type: 'submit' }, 'Revoke');
  const form = h('form', { class: 'plan', on: { submit: (event) => {
    event.preventDefault();
    perform(button, async () => {
      const value = text.value.trim();
      await ask('POST', '/v1/tokens/revoke', value.split('.').length === 3 ? { token: value } : { jti: value });
      form.reset();
      await load();
    }, 'Revoked');
  } } }, labelled('Token, or its id (token_id in the log)', text), button);
  return h('details', { class: 'more' }, h('summary', {}, 'Revoke a token that was made elsewhere'), form);
}
