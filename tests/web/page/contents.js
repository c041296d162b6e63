#!/usr/bin/env node
// contents.js PAGE: the table of contents and the data of a page of kernels, without a browser: the kernels in each order and for each
// text of the search field, and every kernel with its instructions as objects. It takes the part of the page's script that touches no document.
'use strict';
const text = require('fs').readFileSync(process.argv[2], 'utf8');
const data = text.match(/<script type="application\/json" id="data">([^]*?)<\/script>/)[1];
const script = text.match(/\/\/ -+ the data\n([^]*?)\/\/ -+ the parts\n/)[1];
const D = JSON.parse(data), page = new Function('D', `${script}; return {found, unpacked};`)(D);
const report = {orders: [], kernels: []};
for (const words of ['', 'naive', 'TRANSPOSE  ed>', 'void swizzled', 'no such kernel'])
  for (const key of ['kernel', 'executed', 'wavefronts', 'ideal', 'excess'])
    for (const descending of [false, true]) report.orders.push({words, key, descending, order: page.found(words, key, descending)});
D.kernels.forEach((_, at) => report.kernels.push(page.unpacked(at)));
console.log(JSON.stringify(report));
