// The dashboard: who is logged in, and which view is shown.

import { h, setText, show } from '../shared/element.js';
import { fill, t, wordOf } from '../texts/dashboard-texts.js';
import { accessView } from './access-view.js';
import { ask, onLoggedOut } from './api.js';
import { loginView } from './login-view.js';
import { newShowView } from './new-show-view.js';
import { overviewView } from './overview-view.js';
import { roomView } from './room-view.js';
import { showView } from './show-view.js';
import { systemView } from './system-view.js';
import { applyTheme, themeSwitch } from './theme-switch.js';

const find = (id) => document.getElementById(id);
const link = find('link');

let user = null;
let view = null;
let isWell = null;

function showHealth(isHealthy) {
  if (isHealthy === isWell) return;
  isWell = isHealthy;
  link.className = `badge ${isHealthy ? 'good' : 'bad'}`;
  setText(link, t(isHealthy ? 'page.connected' : 'page.disconnected'));
}

const titled = (name) => t('page.title', { name });

function present(next, title) {
  view?.close();
  view = next;
  document.title = title;
  find('main').replaceChildren(next.element);
}

function route() {
  if (!user) return;
  const [, kind, name, tab, ...chosen] = location.hash.split('/');
  const options = { mayCommand: user.may_command, onHealth: showHealth };
  for (const place of ['access', 'system']) {
    if (kind === place) find(`to-${place}`).setAttribute('aria-current', 'page');
    else find(`to-${place}`).removeAttribute('aria-current');
  }
  if (kind === 'show' && name) {
    const show = decodeURIComponent(name);
    if (view?.show === show) {
      view.select(tab, ...chosen);
      return;
    }
    present(Object.assign(showView(show, { ...options, tab, chosen }), { show }), titled(show));
    return;
  }
  if (kind === 'new' && user.may_command) {
    present(newShowView(), titled(t('newShow.title')));
  } else if (kind === 'access' && user.may_command) {
    present(accessView(options), titled(t('page.access')));
  } else if (kind === 'system') {
    present(systemView(options), titled(t('page.system')));
  } else if (kind === 'room' && name) {
    const room = decodeURIComponent(name);
    present(roomView(room, options), titled(room));
  } else {
    present(overviewView(options), 'Footlight');
  }
  scrollTo(0, 0);
}

function enter(next) {
  user = next;
  show(find('top'), true);
  show(find('to-access'), user.may_command);
  setText(find('who'), user.may_command ? user.identity : t('page.readOnly', { identity: user.identity }));
  find('warnings').replaceChildren(...user.warnings.map(({ code, text }) => h('p', { class: 'notice' }, wordOf('findings', code, text))));
  show(find('warnings'), user.warnings.length > 0);
  route();
}

function leave() {
  if (user === null && view) return;
  user = null;
  isWell = null;
  show(find('top'), false);
  show(find('warnings'), false);
  const login = loginView(enter);
  present(login, titled(t('login.title')));
  login.focus();
}

async function begin() {
  try {
    enter(await ask('GET', '/dashboard/session'));
  } catch {
    leave();
  }
}

onLoggedOut(leave);
addEventListener('hashchange', () => {
  const before = view;
  route();
  if (view === before) return;
  // Moves the focus to the new view for keyboard and screen reader users.
  find('main').focus({ preventScroll: true });
});
themeSwitch(find('theme'), () => view?.restyle?.());
find('logout').addEventListener('click', async () => {
  try {
    await ask('DELETE', '/dashboard/session');
  } finally {
    leave();
  }
});
fill();
applyTheme();
begin();
