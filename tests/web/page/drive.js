// Runs inside the page under test: chooses every access and swizzle as a reader would, with the controls and the address
// line, and writes what the page then shows. It reads the document only, none of the page's variables.
{
  const report = {states: [], cells: [], errors: [], width: innerWidth};
  const $ = id => document.getElementById(id);
  const change = (input, set) => {
    set(input);
    input.dispatchEvent(new Event('change', {bubbles: true}));
  };
  // A browser reports only a real change; each one makes the page draw a picture.
  const setTo = (input, value) => { if (input.value !== String(value)) change(input, () => { input.value = value; }); };
  const choose = name => {
    const span = [...document.querySelectorAll('#swizzles span')].find(x => x.textContent === name);
    if (!span.previousElementSibling.checked) change(span.previousElementSibling, input => { input.checked = true; });
  };
  const chooseOwn = numbers => {
    choose('other');
    numbers.forEach((n, i) => setTo(document.querySelector(`[data-param="${i}"]`), n));
  };
  // Browsers allow few changes of the address line in a second: only a few states are reached this way.
  const go = hash => {
    history.replaceState(null, '', '#' + hash);
    window.dispatchEvent(new HashChangeEvent('hashchange'));
  };
  const origin = () => Object.fromEntries([...document.querySelectorAll('#origin [data-variable]')].map(
    input => [input.parentElement.textContent.trim(), Number(input.value)]));
  const toLastOrigin = () => [...document.querySelectorAll('#origin [data-variable]')].forEach((_, i) => {
    const input = document.querySelector(`[data-variable="${i}"]`);
    setTo(input, input.max);
  });
  const cells = (state, table) => {
    const all = [...document.querySelectorAll(`#${table} td[data-place]`)];
    for (const td of [all[0], all[Math.floor(all.length / 2)], all[all.length - 1], document.querySelector(`#${table} td.hit`)]) {
      if (!td) continue;
      td.dispatchEvent(new PointerEvent('pointerover', {bubbles: true}));
      report.cells.push({...state, table, place: Number(td.dataset.place), clash: td.classList.contains('clash'),
        facts: Object.fromEntries([...document.querySelectorAll('#facts dd')].map(dd => [dd.dataset.fact, dd.textContent]))});
    }
  };
  try {
    const names = [...$('access').options].map(o => o.textContent).slice(1);
    const given = document.querySelector('#swizzles .mono').textContent;
    const record = (access, swizzle) => {
      const row = document.querySelector('#compare tr[aria-selected=true]').cells;
      const state = {access, swizzle, origin: origin(), phase: Number(document.querySelector('[name=phase]:checked').value)};
      report.states.push({...state, wavefronts: $('wavefronts').textContent, ideal: $('ideal').textContent,
        excess: $('excess').textContent, degrees: $('degrees').textContent, here: row[1].textContent, worst: row[3].textContent,
        banks: [...document.querySelectorAll('#memory td[data-bank]')].map(td => Number(td.textContent || 0)),
        hits: document.querySelectorAll('#tile td.hit').length, inMemory: document.querySelectorAll('#memory td.hit').length});
      if (access === names[0] || access === names[names.length - 1]) cells(state, 'tile'), cells(state, 'memory');
      const page = document.getElementById('page'), facts = document.getElementById('cell');
      if (page.getBoundingClientRect().bottom > facts.getBoundingClientRect().top) report.errors.push('the facts cover the page');
      if (page.scrollWidth > page.clientWidth) report.errors.push(`it scrolls sideways: ${access}, ${swizzle}`);
    };
    names.forEach((access, i) => {
      for (const swizzle of ['none', '32B', '64B', '128B', 'given', '2,4,-3']) {
        if (swizzle.includes(',')) chooseOwn(swizzle.split(',')); else choose(swizzle === 'given' ? given : swizzle);
        change($('access'), select => { select.value = i; });  // to its worst origin, too
        record(access, swizzle);
        toLastOrigin();
        record(access, swizzle);
      }
    });
    go(`swizzle=1,5,2&access=${encodeURIComponent(names[0])}`);
    record(names[0], '1,5,2');
    go(`swizzle=64B&access=${encodeURIComponent(names[0])}&phase=0`);
    record(names[0], '64B');
    chooseOwn([3, 4, 3]);
    chooseOwn([5, 3, 3]);
    report.refused = $('swizzle-error').textContent;
  } catch (error) {
    report.errors.push(String(error.stack));
  }
  const out = document.createElement('pre');
  out.id = 'report';
  out.textContent = JSON.stringify(report);
  document.body.append(out);
}
