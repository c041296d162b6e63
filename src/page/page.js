'use strict';
// The page around the program. A question is a command line: the fields write it, it can be typed, and the address bar holds
// it behind the #. Nothing of an answer is computed here, and no text of a question or an answer becomes markup.

const $ = id => document.getElementById(id);

/// An element with attributes and children; text stays text.
function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes))
    if (name in node && name !== 'list') node[name] = value; else node.setAttribute(name, value);
  node.append(...children.filter(child => child != null && child !== ''));
  return node;
}

// ---- words and lines ----

/// A word as a shell takes it.
const quoted = word => /^[\w@%+=:,.\/-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

/// The words of a line as a shell reads them; an open quote ends at the end.
function wordsOf(line) {
  const words = [];
  let word = null, quote = '';
  for (let i = 0; i < line.length; ++i) {
    const c = line[i];
    if (quote) {
      if (c === quote) quote = '';
      else if (c === '\\' && quote === '"' && /["\\$`]/.test(line[i + 1] || '')) word += line[++i];
      else word += c;
    } else if (c === "'" || c === '"') quote = c, word ??= '';
    else if (c === '\\' && i + 1 < line.length) word = (word ?? '') + line[++i];
    else if (/\s/.test(c)) { if (word !== null) words.push(word), word = null; }
    else word = (word ?? '') + c;
  }
  if (word !== null) words.push(word);
  return words;
}

// ---- the question ----

const commands = [
  {name: 'kernel', words: ['kernel'], file: true, asks: 'What does each shared-memory instruction of a compiled kernel cost at most?'},
  {name: 'check', words: ['check'], accesses: true, asks: 'Is each access free of bank conflicts, from every start?'},
  {name: 'find', words: ['find'], accesses: true, asks: 'Which swizzle is best for all accesses together, and is none better?'},
  {name: 'find --padding', words: ['find', '--padding'], accesses: true, asks: 'Which row pitch is best instead of a swizzle?'},
  {name: 'find --xor', words: ['find', '--xor'], accesses: true, asks: 'Does any linear map of the address bits beat every swizzle?'},
  {name: 'inspect', words: ['inspect'], asks: 'What is this map: one-to-one, linear, its span, its period?'},
  {name: 'equal', words: ['equal'], other: true, asks: 'Are two descriptions the same function?'},
  {name: 'align', words: ['align'], asks: 'For which base addresses is relative addressing absolute addressing?'},
  {name: 'descriptor', words: ['descriptor'], asks: 'Which shared-memory descriptor makes wgmma read this tile?'},
  {name: 'tma', words: ['tma'], asks: 'Which arguments of cuTensorMapEncodeTiled write exactly this tile?'},
  {name: 'eval', words: ['eval'], asks: 'Which offsets, in the order of CuTe?'},
];

const examples = [
  ['a bad column', `check '(32,32):(32,1)' --element f32 --access 'ld.shared.b32: row = lane, col = i for i in 0..31'`],
  ['ldmatrix under Sw<3,4,3>', `check 'Sw<3,4,3> o smem_ptr[16b](unset) o (64,64):(64,1)' --access ldmatrix.x4 --access 'st.shared.b128: row = lane/8 + 4*i, col = 8*(lane%8) for i in 0..15'`],
  ['a gmma atom', `descriptor 'gmma:K_SW128<f16> (128,64)'`],
  ['a pasted TiledCopy', `check 'Sw<1,4,3> o smem_ptr[16b](unset) o (64,16):(16,1)' --access 'TiledCopy
  Tiler_MN:       ((_8,_4,_2):(_1,_16,_8),(_4,_2,_2):(_2,_1,_8))
  TiledLayout_TV: ((_4,_8,_4),((_2,_2,_2),(_1,_1))):((_64,_1,_8),((_256,_32,_512),(_0,_0)))
Copy_Atom
  ThrID:        _32:_1
  ValLayoutSrc: (_32,(_2,_4)):(_2,(_1,_64))
  ValLayoutDst: (_32,_8):(_8,_1)
  ValLayoutRef: (_32,(_2,_4)):(_2,(_1,_64))
  ValueType:    16b'`],
  ['fix it', `find '(64,64):(64,1)' --element f16 --access ldmatrix.x4 --access ldmatrix.x4.trans`],
  ['two spellings of 128B', `equal tma:128B 'fn(x) = x ^ ((x >> 3) & 0x70)'`],
  ['what TMA writes', `tma 'Sw<3,4,3> o smem_ptr[16b](unset) o (128,64):(64,1)'`],
];

/// Accesses, each on one line or, as CuTe prints a TiledCopy, on several: what is indented goes on.
function accessesOf(text) {
  const all = [];
  const open = access => /:\s*$/.test(access) || (access.match(/[([{]/g) || []).length > (access.match(/[)\]}]/g) || []).length;
  for (const line of text.split('\n')) {
    if (!line.trim()) continue;
    const last = all.length - 1;
    if (last >= 0 && (/^\s/.test(line) || /^Copy_Atom\b/.test(line) || open(all[last]))) all[last] += '\n' + line.trimEnd();
    else all.push(line.trim());
  }
  return all;
}

const layoutCommand = commands.find(command => command.accesses);  // whose fields a command line of one's own shows
const chosen = () => commands.find(command => command.name === document.querySelector('[name=command]:checked')?.value);

/// The command line that the fields say.
function lineOfFields() {
  const command = chosen() ?? layoutCommand;
  if (command.file) return [...command.words, ...($('file').value ? [$('file').value] : []), ...($('block').value.trim() ? ['--block', $('block').value.trim()] : []),
    ...wordsOf($('options').value)].map(quoted).join(' ');
  const words = [command.words[0], $('layout').value.trim()];
  if (command.other) words.push($('other').value.trim());
  words.push(...command.words.slice(1));
  if ($('element').value.trim()) words.push('--element', $('element').value.trim());
  if ($('arch').value && $('arch').value !== 'sm_90') words.push('--arch', $('arch').value);
  words.push(...wordsOf($('options').value));
  if (command.accesses) for (const access of accessesOf($('accesses').value)) words.push('--access', access);
  return words.map(quoted).join(' ');
}

/// What a command line says of the fields; nothing where they cannot say it.
function fieldsOf(words) {
  const [name, layout, ...more] = words;
  const rest = more.flatMap(word => /^--(access|element|arch)=/.test(word) ? [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)] : [word]);
  const flags = rest.filter(word => word === '--padding' || word === '--xor');
  const command = commands.find(c => c.words[0] === name && c.words.slice(1).join() === (name === 'find' ? flags.join() : ''));
  if (!command || (layout === undefined ? !command.file : layout.startsWith('-') && layout !== '-')) return null;
  const fields = {command: command.name, file: command.file ? layout ?? '' : null, layout: command.file ? '' : layout, block: '', other: '', accesses: [], element: '', arch: 'sm_90', options: []};
  let i = 0;
  if (command.other) {
    if (rest[0] === undefined || rest[0].startsWith('-')) return null;
    fields.other = rest[i++];
  }
  for (; i < rest.length; ++i) {
    const word = rest[i];
    if (word === '--access' && command.accesses) while (i + 1 < rest.length && !rest[i + 1].startsWith('--')) fields.accesses.push(rest[++i]);
    else if (word === '--element' && i + 1 < rest.length) fields.element = rest[++i];
    else if (word === '--arch' && !command.file && i + 1 < rest.length) fields.arch = rest[++i];
    else if (word === '--block' && command.file && !fields.block && i + 1 < rest.length) fields.block = rest[++i];
    else if (!flags.includes(word)) fields.options.push(word);
  }
  return fields;
}

/// Adds a choice that is not there yet.
function offer(select, name) {
  if (![...$(select).options].some(option => option.value === name)) $(select).append(el('option', {}, name));
}

/// Shows the version, and fills the lists of architectures and patterns.
function showAbout({version, architectures, patterns}) {
  $('version').textContent = version;
  architectures.forEach(name => offer('arch', name));
  patterns.forEach(name => offer('pattern', name));
}

function showFields(fields) {
  if (fields) {
    document.querySelectorAll('[name=command]').forEach(input => { input.checked = input.value === fields.command; });
    offer('arch', fields.arch);
    if (fields.file) offer('file', fields.file);
    for (const name of fields.file !== null ? ['file', 'block'] : ['layout', 'element', 'arch']) $(name).value = fields[name];
    if (fields.other) $('other').value = fields.other;
    if (fields.accesses.length) $('accesses').value = fields.accesses.join('\n');
    $('options').value = fields.options.map(quoted).join(' ');
  } else {
    document.querySelectorAll('[name=command]').forEach(input => { input.checked = false; });
  }
  showCommand();
}

function showCommand() {
  const command = chosen();
  $('asks').textContent = command?.asks ?? 'A command line of your own.';
  for (const name of ['layout', 'element', 'arch']) $(name).parentElement.hidden = Boolean(command?.file);
  $('file-field').hidden = $('block-field').hidden = !command?.file;
  $('accesses-field').hidden = $('pattern-field').hidden = !(command ?? layoutCommand).accesses;
  $('other-field').hidden = !command?.other;
  grow();
}

/// Fields as high as their text.
function grow() {
  for (const area of document.querySelectorAll('textarea')) {
    area.style.height = 'auto';
    area.style.height = `${area.scrollHeight + 2}px`;
  }
}

// ---- the worker ----

const source = [$('module').textContent, $('worker').textContent].join('\n');
$('module').remove(), $('worker').remove();

/// The program in a worker of its own. Ending the worker gives up a question. Another worker starts at once for the next
/// question; if the program itself fails to start, only with the next question.
class Program {
  constructor() { this.waiting = new Map(), this.files = new Map(), this.next = 0, this.start(); }
  start() {
    this.started = false;
    const address = URL.createObjectURL(new Blob([source], {type: 'text/javascript'}));
    this.worker = new Worker(address);
    URL.revokeObjectURL(address);
    this.worker.onmessage = ({data}) => {
      if (data.about) this.started = true, showAbout(data.about);
      else if (data.id === undefined) this.fail(data.failure);
      else if (data.failure) this.fail(data.failure);
      else this.take(data.id)?.resolve(data.reply);
    };
    this.files.forEach((bytes, name) => this.send(name, bytes));
    this.worker.onerror = event => { event.preventDefault(); this.fail(event.message || 'the worker does not start'); };
  }
  take(id) {
    const call = this.waiting.get(id);
    this.waiting.delete(id);
    return call;
  }
  /// Gives this worker, and each later one, a file.
  give(name, bytes) {
    this.files.set(name, bytes);
    if (this.worker) this.send(name, bytes);
  }
  send(name, bytes) { this.worker.postMessage({id: 0, kind: 'take', words: [name, bytes]}); }
  get busy() { return this.waiting.size > 0; }
  ask(kind, words) {
    if (!this.worker) this.start();
    return new Promise((resolve, reject) => {
      this.waiting.set(++this.next, {resolve, reject});
      this.worker.postMessage({id: this.next, kind, words});
    });
  }
  /// Ends what is under way; everyone who waits is told why.
  fail(reason) {
    this.worker?.terminate();
    this.worker = null;
    const calls = [...this.waiting.values()];
    this.waiting.clear();
    if (this.started) this.start();
    for (const call of calls) call.reject(new Error(reason));
  }
}

const stopped = 'stopped', replaced = 'replaced';

// ---- the answer ----

/// JSON whose integers do not all fit a double: those of 16 digits and more stay as they are written.
const parsed = text => JSON.parse(text.replace(/("(?:[^"\\]|\\.)*")|(-?\d{16,})(?![\d.eE])/g, (all, string, number) => string ?? `"${number}"`));

const hex = n => '0x' + BigInt(n).toString(16);
const plural = (n, noun) => `${n} ${noun}${Number(n) === 1 ? '' : 's'}`;
const tuple = list => Array.isArray(list) ? `(${list.map(tuple).join(',')})` : String(list);

const words_of_outcome = {
  proved: ['proved', 'good'], refuted: ['refuted', 'bad'], unknown: ['undecided', 'doubtful'], error: ['not understood', 'bad'],
  failure: ['undecided', 'doubtful'], none: ['', ''],
};

/// Text with the escape sequences of terminals, as nodes.
function colored(text) {
  const nodes = [];
  let style = {};
  const cube = n => n < 16 ? ['#000', '#b3261e', '#10683a', '#8a5a00', '#0b5cad', '#7a2fb0', '#107a80', '#ccc'][n % 8]
    : n < 232 ? `rgb(${[36, 6, 1].map(d => Math.floor((n - 16) / d) % 6).map(v => v ? 55 + 40 * v : 0).join(' ')})`
    : `rgb(${Array(3).fill(8 + 10 * (n - 232)).join(' ')})`;
  for (const [index, part] of text.split(/\x1b\[([\d;]*)m/).entries()) {
    if (index % 2 === 0) { if (part) nodes.push(Object.keys(style).length ? el('span', style, part) : part); continue; }
    const codes = part.split(';').map(Number);
    const css = new Map((style.style ?? '').split(';').filter(Boolean).map(rule => rule.split(':')));
    for (let i = 0; i < codes.length; ++i) {
      const code = codes[i];
      if (code === 0) css.clear();
      else if (code === 1) css.set('font-weight', '600');
      else if (code === 2) css.set('color', 'var(--soft)');
      else if (code === 30) css.set('color', '#000');
      else if (code === 97) css.set('color', '#fff');
      else if (code === 31) css.set('color', 'var(--bad)');
      else if (code === 32) css.set('color', 'var(--good)');
      else if (code === 33) css.set('color', 'var(--doubt)');
      else if ((code === 38 || code === 48) && codes[i + 1] === 5) css.set(code === 38 ? 'color' : 'background', cube(codes[i += 2]));
    }
    style = css.size ? {style: [...css].map(rule => rule.join(':')).join(';')} : {};
  }
  return nodes;
}

const figures = rows => el('dl', {className: 'verdict'}, ...rows.map(([name, value, kind]) =>
  el('div', {}, el('dt', {}, name), el('dd', {className: kind ?? ''}, String(value)))));

function table(heads, rows) {
  return el('div', {className: 'scroll'}, el('table', {},
    el('thead', {}, el('tr', {}, ...heads.map(([name, kind]) => el('th', {className: kind ?? '', scope: 'col'}, name)))),
    el('tbody', {}, ...rows.map(row => el('tr', {}, ...row.map((value, i) => el('td', {className: heads[i][1] ?? ''}, String(value ?? ''))))))));
}

/// The lanes at fault, step by step.
function counterexample(found) {
  const values = of => Object.entries(of ?? {}).map(([name, value]) => `${name} = ${value}`);
  const origin = values(found.origin);
  if (!found.lanes?.length) {  // of a lane that does not fit, or of two stores to one place
    const {origin: _, lanes, reason, ...others} = found;
    return el('p', {}, [...origin, ...values(others)].join(', '));
  }
  const shown = 8;
  const row = lane => [lane.lane, lane.coordinate ? tuple(lane.coordinate) : '', lane.offset, lane.swizzled_offset, hex(lane.address), lane.word];
  const heads = [['lane'], ['coordinate'], ['offset'], ['swizzled'], ['address'], ['bank word']];
  const where = [...origin, `base ${found.base}`].join(', ');
  const rest = found.lanes.slice(shown);
  const each = `${found.lanes.length} ${found.by_lane ? 'lanes, each for itself' : 'different words'}`;
  return el('div', {},
    el('p', {}, el('b', {}, `Phase ${found.phase}, bank ${found.bank}`), `: ${each} (${where})`),
    table(heads, found.lanes.slice(0, shown).map(row)),
    rest.length ? el('details', {}, el('summary', {}, `and ${plural(rest.length, 'more lane')}`), table(heads, rest.map(row))) : null);
}

/// One access; its verdict where there are several.
function accessCard(access, _, all) {
  const [word, kind] = words_of_outcome[access.verdict];
  const numbers = all.length > 1 || access.wavefronts == null ? [['verdict', word, `words ${kind}`]] : [];
  if (access.wavefronts != null)
    numbers.push(['wavefronts', access.wavefronts, access.excess === 0 ? 'good' : 'bad'], ['ideal', access.ideal], ['excess', access.excess],
      ['degree', (access.degree ?? []).join(' '), 'words mono']);
  return el('div', {className: 'access'}, el('h3', {}, access.access), figures(numbers),
    access.reason ? el('p', {className: kind}, access.reason) : null,
    el('p', {className: 'soft'}, access.domain ? `for ${access.domain}` : '', access.engines ? ` · by ${access.engines.join(', ')}` : ''),
    access.counterexample ? counterexample(access.counterexample) : null);
}

const show_check = document => document.accesses.map(accessCard);

function show_find(document) {
  const numbers = best => (best.wavefronts ?? []).join(' ');
  const heads = [['', 'text'], ['total'], ['excess'], ['wavefronts'], ['TMA'], ['bytes']];
  const rows = (document.best ?? []).slice(0, 12).map(best => [
    best.swizzle ?? best.map ?? (best.pitch != null ? `pitch ${best.pitch} ${best.unit}` : 'none'), best.total, best.excess, numbers(best), best.tma ?? 'no', best.memory]);
  const nodes = [];
  if (rows.length) nodes.push(table(heads, rows));
  if (document.winner) {
    const use = el('button', {type: 'button'}, 'Check it');
    use.onclick = () => { $('layout').value = document.winner; choose('check'); };
    nodes.push(el('p', {className: 'use'}, el('code', {}, document.winner), use));
  }
  if (document.searched_what) nodes.push(el('p', {className: 'soft'}, `searched: ${document.searched_what}`));
  return [...nodes, ...(document.accesses ?? []).map(accessCard)];
}

/// One sentence.
function gistOf(name, document) {
  if (document.error) return document.error.message;
  if (document.verdict === 'unknown')
    return document.reason ?? document.accesses?.find(access => access.verdict === 'unknown')?.reason ?? 'some of it takes a solver';
  if (name === 'check') {
    const over = document.accesses.filter(access => access.verdict === 'refuted');
    if (document.verdict === 'proved') return document.accesses.every(access => access.excess === 0) ? 'conflict-free in every case' : 'within the wavefronts allowed';
    if (over.length) return over[0].wavefronts == null ? 'it does not fit' : `${plural(over[0].wavefronts, 'wavefront')} in the worst case, ideal ${over[0].ideal}`;
    return document.one_to_one === 'refuted' ? 'two elements share a place' : '';
  }
  if (name === 'find') return document.conclusion ?? document.reason ?? '';
  return document.reason ?? document.reasons?.join('; ') ?? '';
}

function showVerdict(outcome, gist) {
  const [word, kind] = words_of_outcome[outcome];
  $('answer').dataset.verdict = outcome, $('answer').dataset.line = asked;
  $('verdict').textContent = word || 'answered', $('verdict').className = kind;
  $('gist').textContent = gist;
}

const showPrinted = text => el('pre', {className: 'printed scroll', tabIndex: 0}, ...colored(text));

/// Where the page does not know, the program may.
function elsewhere(line) {
  return el('p', {className: 'soft use'}, 'The program has a solver: ', el('code', {}, `swizproof ${line}`));
}

// ---- asking ----

const program = new Program();
let asked = null;  // the line that is answered or being answered
let pending = 0;

/// The words behind `show` that draw the question's tile; nothing for a question without a tile.
function pictureWords(words) {
  const fields = fieldsOf(words);
  if (!fields || fields.command === 'equal' || fields.command === 'eval') return words[0] === 'show' ? [...words, '--html=-'] : null;
  if (fields.command !== 'check' && !fields.command.startsWith('find')) fields.accesses = [];
  return ['show', fields.layout, ...(fields.element ? ['--element', fields.element] : []), '--arch', fields.arch,
    ...fields.accesses.flatMap(access => ['--access', access]), '--html=-'];
}

function busy(on) {
  $('answer').setAttribute('aria-busy', on);
  clearTimeout(busy.timer);
  if (!on) { $('stop').hidden = $('working').hidden = true; return; }
  busy.timer = setTimeout(() => { $('stop').hidden = $('working').hidden = false; $('working').textContent = 'computing …'; }, 300);
}

/// Lazily: what a closed <details> would show is computed when it is opened.
function lazily(details, fill) {
  const pre = details.querySelector('pre');
  pre.replaceChildren();
  details.ontoggle = () => { if (details.open && !pre.childNodes.length) fill(pre); };
  details.ontoggle();
}

async function ask(line) {
  clearTimeout(pending);
  if (line === asked && !$('answer').dataset.stale) return;
  asked = line;
  delete $('answer').dataset.stale;
  if (program.busy) program.fail(replaced);
  const words = wordsOf(line);
  const hash = '#' + encodeURIComponent(line.toWellFormed?.() ?? line);
  try { if (location.hash !== hash) history.replaceState(null, '', hash); } catch { /* too long for an address: asked all the same */ }
  busy(true);
  try {
    await answer(line, words);
  } catch (error) {
    if (error.message === replaced || asked !== line) return;
    showVerdict('failure', error.message === stopped ? 'stopped before there was an answer' : `the page gave up: ${error.message}`);
    $('details').replaceChildren(elsewhere(line));
    $('printed').hidden = $('json').hidden = $('picture').hidden = true;
    $('answer').dataset.stale = 'yes';
  }
  if (asked === line) busy(false);
}

/// A kernel: its text at once. The document and the page are computed when they are wanted, since each takes that time again.
async function answerKernel(line, words) {
  const how = 'Drop a .ptx or .sass file on this page, or open one. It is not sent anywhere.';
  $('printed').hidden = $('picture').hidden = true;
  if (words.length === 1) {
    showVerdict('none', how);
    $('verdict').textContent = 'no file yet';
    $('json').hidden = true;
    return $('details').replaceChildren();
  }
  const {exit_code, text} = await program.ask('print', [...words, '--color=always']);
  if (asked !== line) return;
  const outcome = ['proved', 'refuted', 'error', 'unknown'][exit_code] ?? 'error';
  showVerdict(outcome, text.match(/^\d+ in all: [^;]*/m)?.[0] ?? '');
  const missing = outcome === 'error' && !words.slice(1).some(word => program.files.has(word));
  $('details').replaceChildren(
    ...(missing ? [el('p', {className: 'use'}, how)] : []),
    ...(text.includes('no solver in this build') ? [elsewhere(line)] : []), showPrinted(text));
  $('json').hidden = outcome === 'error';
  lazily($('json'), async pre => {
    try { pre.append((await program.ask('answer', words)).document); } catch { /* another question */ }
  });
}

async function answer(line, words) {
  if (words[0] === 'kernel' && !words.includes('--json')) return answerKernel(line, words);
  const reply = await program.ask('answer', words);
  let document_ = null;
  try { document_ = parsed(reply.document); } catch { /* --help, --version, a picture */ }
  const known = document_ && !document_.error;
  const outcome = document_?.error ? 'error' : document_?.verdict ?? 'none';
  const rich = known && {check: show_check, find: show_find}[words[0]];
  const text = rich || document_?.error ? null : (await program.ask('print', [...words, '--color=always'])).text;
  if (asked !== line) return;
  showVerdict(outcome, document_ ? gistOf(words[0], document_) : '');
  const details = [];
  if (document_?.error) details.push(el('pre', {className: 'scroll error', tabIndex: 0}, reply.complaint.trimEnd()));
  else if (rich) details.push(...rich(document_));
  else details.push(showPrinted(text));
  if (reply.exit_code === 3) details.unshift(elsewhere(line));
  $('details').replaceChildren(...details);
  for (const name of ['layout', 'other', 'accesses', 'element', 'options'])
    $(name).setAttribute('aria-invalid', Boolean(document_?.error?.input && $(name).value.includes(document_.error.input)));
  $('json').hidden = !document_;
  lazily($('json'), pre => pre.append(reply.document));
  $('printed').hidden = !rich;
  lazily($('printed'), async pre => {
    try { pre.append(...colored((await program.ask('print', [...words, '--color=always'])).text)); } catch { /* another question */ }
  });
  busy(false);
  await draw(line, known ? pictureWords(words) : null);
}

async function draw(line, words) {
  const frame = document.querySelector('iframe');
  const reply = words && await program.ask('answer', words);
  if (asked !== line) return;
  const drawn = reply?.exit_code === 0 && reply.document.startsWith('<!doctype html>');
  // If nothing can be drawn (a function without a shape), the reason is shown for banks alone.
  $('picture').hidden = !drawn && !(reply && words.includes('--access'));
  frame.hidden = !drawn;
  $('picture-says').textContent = drawn || !reply ? '' : reply.complaint.replace(/^swizproof: error: /, '').split('\n')[0];
  URL.revokeObjectURL(frame.src);
  // A document of its own; where its address line would change, nothing but its own changes.
  if (drawn) frame.src = URL.createObjectURL(new Blob([reply.document], {type: 'text/html'}));
  else frame.removeAttribute('src');
}

/// Soon: after a pause in typing.
function askSoon(line, wait = 200) {
  clearTimeout(pending);
  pending = setTimeout(() => ask(line), wait);
}

function fromFields(wait) {
  $('line').value = lineOfFields();
  showCommand();
  askSoon($('line').value, wait);
}

function fromLine(line, wait) {
  $('line').value = line;
  showFields(fieldsOf(wordsOf(line)));
  askSoon(line, wait);
}

function choose(name) {
  document.querySelectorAll('[name=command]').forEach(input => { input.checked = input.value === name; });
  fromFields(0);
}

/// Files that were dropped or opened; the last one is decided.
async function take(list) {
  const dropped = [...list];
  for (const file of dropped) {
    program.give(file.name, new Uint8Array(await file.arrayBuffer()));
    offer('file', file.name);
    $('file').value = file.name;
  }
  $('opened').value = '';
  asked = null;  // a file of the same name has other bytes
  if (dropped.length) choose('kernel');
}

function fromHash() {
  let line = '';
  try { line = decodeURIComponent(location.hash.slice(1)); } catch { line = location.hash.slice(1); }
  fromLine(line || examples[0][1], 0);
}

// ---- the page ----

for (const command of commands)
  $('commands').append(el('label', {}, el('input', {type: 'radio', name: 'command', value: command.name}), el('span', {}, command.name)));
for (const [name, line] of examples) {
  const chip = el('button', {type: 'button', className: 'chip', title: `swizproof ${line}`}, name);
  chip.onclick = () => fromLine(line, 0);
  $('examples').append(chip, ' ');
}

$('question').onsubmit = event => event.preventDefault();
$('commands').onchange = () => fromFields(0);
for (const name of ['layout', 'other', 'accesses', 'element', 'options', 'block']) $(name).oninput = () => fromFields();
$('file').onchange = () => fromFields(0);
$('open').onclick = () => $('opened').click();
$('opened').onchange = () => take($('opened').files);
addEventListener('dragover', event => event.preventDefault());
addEventListener('drop', event => {
  event.preventDefault();
  take(event.dataTransfer.files);
});
$('arch').onchange = () => fromFields(0);
$('pattern').onchange = () => {
  $('accesses').value = [...accessesOf($('accesses').value), $('pattern').value].join('\n');
  $('pattern').value = '';
  fromFields(0);
};
$('line').oninput = () => {
  showFields(fieldsOf(wordsOf($('line').value)));
  askSoon($('line').value);
};
$('line').onkeydown = event => {
  if (event.key !== 'Enter' || event.shiftKey) return;
  event.preventDefault();
  delete $('answer').dataset.stale;
  asked = null;
  askSoon($('line').value, 0);
};
$('stop').onclick = () => program.fail(stopped);
addEventListener('keydown', event => { if (event.key === 'Escape' && program.busy && !$('stop').hidden) program.fail(stopped); });
addEventListener('hashchange', fromHash);
addEventListener('resize', grow);

async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {  // of files, some browsers give no clipboard
    const area = el('textarea', {value: text});
    document.body.append(area), area.select(), document.execCommand('copy'), area.remove();
  }
  $('copied').textContent = `${what} copied`;
  setTimeout(() => { $('copied').textContent = ''; }, 2000);
}
$('copy-line').onclick = () => copy(`swizproof ${$('line').value}`, 'command');
$('copy-link').onclick = () => copy(location.href.split('#')[0] + '#' + encodeURIComponent($('line').value), 'link');

fromHash();
