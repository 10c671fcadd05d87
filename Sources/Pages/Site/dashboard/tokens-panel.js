// Access tokens: those that were made here, a form for a new one, and what refuses one from now on.

import { h, keyed, labelled, setText, show } from '../shared/element.js';
import { ago, ahead } from '../shared/format.js';
import { t, wordOf } from '../texts/dashboard-texts.js';
import { ask } from './api.js';
import { onceShown } from './once-shown.js';
import { poll } from './poll.js';
import { perform } from './toast.js';

const roles = ['operator', 'monitor', 'participant', 'relay', 'thumbnail'].map((role) => [role, t(`tokens.choices.${role}`)]);
const modes = ['SEND_AND_RECV', 'RECV_ONLY', 'SIGNALLING_ONLY'].map((mode) => [mode, t(`tokens.modes.${mode}`)]);
const lifetimes = [
  [6 * 3600, t('tokens.hours', { count: 6 })], ...[1, 7, 30, 90].map((count) => [count * 86_400, t('tokens.days', { count })]),
  [365 * 86_400, t('tokens.years', { count: 1 })],
];

const select = (name, options) => h('select', { class: 'pick', name },
  ...options.map(([value, text]) => h('option', { value }, text)));

/** A panel for operators. */
export function tokensPanel() {
  const list = h('ul', { class: 'outputs' });
  const empty = h('p', { class: 'soft', hidden: true }, t('tokens.empty'));
  const more = h('button', { class: 'button small', type: 'button', hidden: true, on: { click: () => {
    pages += 1;
    perform(more, load);
  } } }, t('tokens.older'));
  const secret = onceShown();
  const element = h('section', { class: 'card', 'aria-labelledby': 'tokens-title' },
    h('div', { class: 'card-head' }, h('h2', { id: 'tokens-title' }, t('tokens.title'))), secret.element, empty, list, more,
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
  const revoke = h('button', { class: 'button small', type: 'button', 'aria-label': t('tokens.revokeNamed', { identity }), on: {
    click: () => {
      if (!confirm(t('tokens.revokeQuestion', { identity }))) return;
      perform(revoke, async () => {
        await ask('POST', '/v1/tokens/revoke', { jti, expires_at: expiry });
        await load();
      }, t('tokens.isRevoked'));
    },
  } }, t('tokens.revoke'));
  const restore = h('button', { class: 'button small', type: 'button', 'aria-label': t('tokens.restoreNamed', { identity }),
    on: { click: () => perform(restore, async () => {
      await ask('DELETE', `/v1/tokens/revoked/${encodeURIComponent(jti)}`);
      await load();
    }, t('tokens.restored')) } }, t('tokens.restore'));
  let expiry = null;
  const row = h('li', { class: 'output token' },
    h('div', { class: 'host-head' }, h('span', { class: 'name' }, identity), state, h('span', { class: 'spacer' }),
      revoke, restore), facts);
  row.update = (token) => {
    expiry = token.expires_at;
    state.className = `badge ${token.revoked ? 'bad' : ''}`;
    setText(state, token.revoked ? t('tokens.revoked') : wordOf('tokens.roles', role));
    setText(facts, [
      room ? t('common.roomNamed', { room }) : t('tokens.allRooms'),
      t('tokens.madeBy', { time: ago(Date.parse(token.issued_at)), identity: maker }),
      t('tokens.expires', { time: ahead(Date.parse(expiry)) }),
    ].join(' · '));
    show(revoke, !token.revoked);
    show(restore, token.revoked);
  };
  return row;
}

/** The form for a new token, which is shown once. */
function newToken(secret, load) {
  const name = h('input', { class: 'field', name: 'identity', required: true, autocomplete: 'off', spellcheck: 'false',
    pattern: '[A-Za-z0-9_\\-]{1,64}', title: t('tokens.nameHint') });
  const role = select('role', roles);
  const room = h('input', { class: 'field', name: 'room', autocomplete: 'off', spellcheck: 'false',
    pattern: '[A-Za-z0-9_\\-]{1,64}', title: t('tokens.roomHint') });
  const mode = select('mode', modes);
  const lifetime = select('lifetime', lifetimes);
  const roomField = labelled('', room);
  const modeField = labelled(t('tokens.mode'), mode);
  const adapt = () => {
    show(roomField, role.value !== 'operator');
    room.required = role.value === 'participant';
    setText(roomField.firstElementChild, t(role.value === 'participant' ? 'common.room' : 'common.roomOrAll'));
    show(modeField, role.value === 'participant');
  };
  role.addEventListener('change', () => {
    lifetime.value = String(role.value === 'participant' ? 6 * 3600 : 90 * 86_400);
    adapt();
  });
  const button = h('button', { class: 'button', type: 'submit' }, t('tokens.make'));
  const form = h('form', { class: 'plan', on: { submit: (event) => {
    event.preventDefault();
    perform(button, async () => {
      const body = { identity: name.value, role: role.value, expires_in: Number(lifetime.value) };
      if (role.value !== 'operator' && room.value) body.room = room.value;
      if (role.value === 'participant') body.modes = [mode.value];
      const made = await ask('POST', '/v1/tokens', body);
      name.value = '';
      secret.present(t('tokens.made', { identity: made.identity }), made.token);
      await load();
    });
  } } }, labelled(t('tokens.name'), name), labelled(t('tokens.role'), role), roomField, modeField,
  labelled(t('tokens.lifetime'), lifetime), button);
  lifetime.value = String(90 * 86_400);
  adapt();
  return form;
}

/** Revokes a token that was made elsewhere, such as by `footlight token`. */
function otherToken(load) {
  const text = h('input', { class: 'field', name: 'revoked', required: true, autocomplete: 'off', spellcheck: 'false' });
  const button = h('button', { class: 'button', type: 'submit' }, t('tokens.revoke'));
  const form = h('form', { class: 'plan', on: { submit: (event) => {
    event.preventDefault();
    perform(button, async () => {
      const value = text.value.trim();
      await ask('POST', '/v1/tokens/revoke', value.split('.').length === 3 ? { token: value } : { jti: value });
      form.reset();
      await load();
    }, t('tokens.isRevoked'));
  } } }, labelled(t('tokens.elsewhereToken'), text), button);
  return h('details', { class: 'more' }, h('summary', {}, t('tokens.elsewhere')), form);
}
