// Keeps the page as the printer is: one stream of states from the server, one picture that grows.
'use strict';

const at = id => document.getElementById(id);

// item is an element with text; nothing of what the printer says is ever read as markup.
const item = (tag, text, set = {}) => Object.assign(document.createElement(tag), { textContent: text }, set);

let shown = Number(document.querySelector('#sheets li:first-child')?.dataset.n ?? 0);

async function showSheets() {
    const { sheets } = await (await fetch('sheets')).json();
    for (const sheet of sheets.filter(s => s.n > shown)) {
        const li = item('li', '');
        li.dataset.n = sheet.n;
        li.append(item('h3', sheet.title));
        for (const error of sheet.errors ?? []) {
            li.append(item('p', error, { className: 'error' }));
        }
        const details = item('details', '');
        details.append(item('summary', 'As text'), item('pre', sheet.text, { tabIndex: 0 }));
        li.append(item('img', '', {
            src: `paper/${sheet.n}`, loading: 'lazy', alt: `Sheet ${sheet.n}. Its text is below.`,
        }), details);
        at('sheets').prepend(li);
        shown = sheet.n;
    }
    at('none').hidden = at('sheets').children.length > 0;
}

// set changes text only where it differs, so that a screen reader is not told the same again.
const set = (element, text) => {
    if (element.textContent !== text) {
        element.textContent = text;
    }
};

let picture = '';

function show(state) {
    at('lamp').dataset.lamp = state.lamp;
    set(at('says'), state.says.join(' '));
    set(at('facts'), state.facts);
    for (const button of document.querySelectorAll('button[data-fault]')) {
        const wrong = state.wrong.includes(button.dataset.fault);
        button.name = wrong ? 'clear' : 'raise';
        button.dataset.wrong = wrong;
        set(button, wrong ? button.dataset.clear : button.dataset.raise);
    }
    set(at('live-text'), state.pending);
    at('log').replaceChildren(...state.recent.map(line => item('li', line)));
    // The sheet before it and the head's place name what hangs in the machine.
    const now = `paper/0?dots=${state.pending_dots}&after=${state.last_sheet}`;
    if (now !== picture) {
        picture = now;
        at('live').src = now;
    }
    if (state.last_sheet > shown) {
        showSheets().catch(() => {});
    }
}

at('live').addEventListener('load', () => { at('slot').scrollTop = at('slot').scrollHeight; });

const events = new EventSource('events');
events.addEventListener('state', e => { show(JSON.parse(e.data)); });
events.addEventListener('error', () => {
    at('lamp').dataset.lamp = 'off';
    set(at('says'), 'The virtual printer does not answer; trying again.');
});

document.addEventListener('submit', async e => {
    e.preventDefault();
    const wish = new URLSearchParams(new FormData(e.target, e.submitter));
    set(at('failed'), '');
    try {
        const answer = await fetch(e.target.action, {
            method: 'POST', body: wish, headers: { Accept: 'application/json' },
        });
        if (!answer.ok) {
            set(at('failed'), await answer.text());
        }
    } catch {
        set(at('failed'), 'The virtual printer does not answer.');
    }
});
