// Asks for a login code, or the operator's token.

import { h, setText } from '../shared/element.js';
import { marked } from '../shared/texts.js';
import { t } from '../texts/dashboard-texts.js';
import { APIError, ask } from './api.js';

/** A view that calls `onLogin` with the user. */
export function loginView(onLogin) {
  const token = h('input', {
    class: 'field', id: 'token', type: 'password', name: 'token', autocomplete: 'current-password', required: true,
    spellcheck: 'false', 'aria-describedby': 'problem',
  });
  const problem = h('p', { id: 'problem', class: 'problem', role: 'alert' });
  const button = h('button', { class: 'button main', type: 'submit' }, t('login.enter'));

  const submit = async (event) => {
    event.preventDefault();
    button.disabled = true;
    setText(problem, '');
    try {
      const user = await ask('POST', '/dashboard/session', { token: token.value });
      token.value = '';
      onLogin(user);
    } catch (error) {
      setText(problem, reason(error));
      token.select();
    } finally {
      button.disabled = false;
    }
  };

  const form = h('form', { class: 'card login', on: { submit } },
    h('img', { src: '/site/footlight.svg', alt: '', width: 52, height: 52 }),
    h('h1', {}, 'Footlight'),
    // Password managers expect a user name.
    h('input', { type: 'text', name: 'username', value: 'operator', autocomplete: 'username', hidden: true }),
    h('label', { for: 'token' }, t('login.token')),
    token,
    button,
    problem,
    h('p', { class: 'soft hint' }, ...marked(t('login.hint'))));
  return { element: h('div', { class: 'login-page' }, form), focus: () => token.focus(), close: () => undefined };
}

function reason(error) {
  if (!(error instanceof APIError)) return t('common.noAnswer');
  if (error.status === 401) return t('login.refused');
  if (error.status === 429) return t('login.tooOften', { seconds: error.retryAfter ?? 10 });
  return error.message;
}
