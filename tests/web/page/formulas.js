#!/usr/bin/env node
// formulas.js PAGE: the cost model of the page that `show --html` writes, without a browser: its formulas on the states and cells that
// drive.js reaches by the controls, in the same report. It takes the page's script up to its state, and no number from the program but
// the data on the page.
'use strict';
const text = require('fs').readFileSync(process.argv[2], 'utf8');
const data = text.match(/<script type="application\/json" id="data">([^]*?)<\/script>/)[1];
const script = text.match(/\/\/ -+ the data\n([^]*?)\/\/ -+ the state\n/)[1];
const names = 'D, LANES, offsets, swizzles, swizzleError, byteAddress, bitAddress, bankOf, cost, lanesOfPhase, wordsByBank, lanesOf, addressesOf, worst, splitLane';
const page = new Function('document', `${script}; return {${names}};`)({getElementById: () => ({textContent: data})});
const {D, swizzles, cost, lanesOf, addressesOf, worst} = page;
const report = {states: [], cells: [], errors: []};

const custom = params => ({id: 'custom', params: params.split(',').map(Number)});
const byName = name => name.includes(',') ? custom(name) : swizzles.find(s => s.id === name);

function record(access, name, values, phase) {
  const s = byName(name), lanes = lanesOf(access, values), addresses = addressesOf(s, lanes), price = cost(access, addresses);
  phase ??= price.degree.indexOf(Math.max(...price.degree));
  const whole = page.splitLane(s, access, lanes) < 0, most = worst(s, access), shown = whole ? String(price.wavefronts) : '–';
  const origin = Object.fromEntries(access.variables.map((v, i) => [v.name, values[i]]));
  const state = {access: access.name, swizzle: name, origin, phase};
  report.states.push({...state, wavefronts: shown, here: shown, worst: most.split ? '–' : String(most.wavefronts), ideal: String(access.ideal),
    excess: whole ? String(Math.max(0, price.wavefronts - access.ideal)) : '–', degrees: whole ? price.degree.join(' ') : '–',
    banks: page.wordsByBank(access, addresses, page.lanesOfPhase(access, phase, price.size)).map(words => words.length)});
  const p = lanes.find(lane => lane)[0];
  for (const place of [0, Math.floor(page.offsets.length / 2), page.offsets.length - 1, p]) {
    const bits = page.bitAddress(s, place), byte = Math.floor(bits / 8), lane = lanes.findIndex(l => l && l[0] === place && l[1] === 0);
    const facts = {row: D.row0 + Math.floor(place / D.cols), column: D.col0 + place % D.cols, 'offset, elements': page.offsets[place],
      'swizzled offset': Math.floor((bits - 8 * D.base) / D.bits), 'address, bytes': byte, bank: page.bankOf(byte), lane: lane < 0 ? 'none' : lane};
    report.cells.push({...state, place, facts: Object.fromEntries(Object.entries(facts).map(([key, value]) => [key, String(value)]))});
  }
}

for (const access of D.accesses)
  for (const name of ['none', '32B', '64B', '128B', 'given', '2,4,-3']) {
    record(access, name, worst(byName(name), access).values);
    record(access, name, access.variables.map(v => v.first + v.step * (v.count - 1)));
  }
record(D.accesses[0], '1,5,2', worst(byName('given'), D.accesses[0]).values);
record(D.accesses[0], '64B', worst(byName('1,5,2'), D.accesses[0]).values, 0);
report.refused = page.swizzleError([5, 3, 3]);
console.log(JSON.stringify(report));
