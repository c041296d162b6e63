// Runs inside the page of a trace: opens every line that can be opened, as a reader would, and writes what the page then
// shows. It reads the document only, none of the page's variables.
{
  const report = {kernels: [], lines: [], files: [], opened: [], errors: [], width: innerWidth};
  const cells = row => [...row.cells].map(td => td.textContent);
  const bar = row => { const i = row.querySelector('.track i'); return i ? parseFloat(i.style.width) : 0; };
  try {
    report.sums = Object.fromEntries(['executed', 'wavefronts', 'ideal', 'excess'].map(
      key => [key, document.getElementById('all-' + key).textContent]));
    report.first = document.querySelectorAll('tr[data-open]').length;
    dispatchEvent(new Event('beforeprint'));  // draws what is not yet in view
    for (const row of document.querySelectorAll('#kernels tbody tr'))
      report.kernels[Number(row.querySelector('a').hash.slice(8))] = {cells: cells(row), bar: bar(row)};
    report.kernels.forEach((_, kernel) => {  // in the order of the program
      const section = document.getElementById(`kernel-${kernel}`);
      for (const row of section.querySelectorAll('table.costs:not(.code) > tbody > tr:not(.detail)'))
        report.lines.push({kernel, cells: cells(row), bar: bar(row), opens: row.querySelector('button') !== null, like: row.matches('.like')});
      for (const listing of section.querySelectorAll('.listing')) {
        const rows = [...listing.querySelectorAll('table.code > tbody > tr:not(.detail)')].map(row => ({
          kind: row.matches('.like') ? 'like' : row.classList[0], member: row.matches('.member'), count: row.querySelector('.fold')?.textContent ?? '', cells: cells(row), bar: bar(row), seen: !row.hidden, costly: row.classList.contains('costly'),
          pc: row.querySelector('.pc') ? row.querySelector('.pc').textContent : null,
          code: row.querySelector('td.text') ? row.querySelector('td.text').firstChild?.data ?? '' : null}));
        report.files.push({kernel, name: listing.querySelector('b').textContent, said: listing.querySelector('.file').textContent, rows});
        for (const fold of listing.querySelectorAll('button.fold')) {
          const below = fold.closest('tr').nextElementSibling, folded = below.hidden;
          if (String(!folded) !== fold.getAttribute('aria-expanded')) report.errors.push('a fold is not what it says');
          fold.click();
          if (below.hidden === folded) report.errors.push('a fold does not move');
          fold.click();
          if (below.hidden !== folded) report.errors.push('a fold does not move back');
        }
      }
      (report.fixes ??= []).push([...section.querySelectorAll('.fix')].map(div => div.textContent));
      report.notes = (report.notes || '') + [...section.querySelectorAll('.notes')].map(p => p.textContent).join('\n');
    });
    report.dropped = document.getElementById('dropped').textContent;
    for (const row of [...document.querySelectorAll('tr.bad-line')].sort((a, b) => parseInt(a.dataset.at) - parseInt(b.dataset.at))) {
      if (!row.hasAttribute('data-open')) row.querySelector('button').click();
      const detail = row.nextElementSibling, svg = detail.querySelector('svg');
      report.opened.push({
        at: row.querySelector('button').textContent, kernel: Number(row.dataset.at.split(',')[0]), expanded: row.querySelector('button').getAttribute('aria-expanded'), text: detail.textContent,
        open: document.querySelectorAll('tr.detail').length,
        conflicts: [...detail.querySelectorAll('table.lanes tbody tr')].map(cells),
        picture: svg ? [...svg.querySelectorAll('text')].map(t => t.textContent) : null,
        wide: svg ? svg.getBoundingClientRect().width : 0});
      if (document.documentElement.scrollWidth > innerWidth) report.errors.push(`it scrolls sideways: ${row.cells[0].textContent}`);
    }
    const open = document.querySelector('tr[data-open]');
    if (open) open.cells[1].click();
    report.closed = document.querySelectorAll('tr.detail, tr[data-open]').length === 0;
  } catch (error) {
    report.errors.push(String(error.stack));
  }
  const out = document.createElement('pre');
  out.id = 'report';
  out.textContent = JSON.stringify(report);
  document.body.append(out);
}
