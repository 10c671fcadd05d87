// What the dashboard says, in each language.

import { catalogue } from '../shared/texts.js';
import { de as administrationDE } from './administration-de.js';
import { en as administrationEN } from './administration-en.js';
import { de as dashboardDE } from './dashboard-de.js';
import { en as dashboardEN } from './dashboard-en.js';
import { de as figuresDE } from './figures-de.js';
import { en as figuresEN } from './figures-en.js';
import { de as studioDE } from './studio-de.js';
import { en as studioEN } from './studio-en.js';

export const { t, wordOf, fill } = catalogue({
  en: { ...dashboardEN, ...studioEN, ...figuresEN, ...administrationEN },
  de: { ...dashboardDE, ...studioDE, ...figuresDE, ...administrationDE },
});
