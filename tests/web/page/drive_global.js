// Runs inside a page of kernels with their accesses to global memory: draws all of them as paper does, and writes the cells of the tables.
{
  const report = {errors: [], contents: {}, tables: {}};
  try {
    dispatchEvent(new Event('beforeprint'));
    const cells = row => [...row.cells].map(cell => cell.textContent);
    report.heads = cells(document.querySelector('#kernels thead tr'));
    report.sorted = [...document.querySelectorAll('#kernels th')].findIndex(th => th.getAttribute('aria-sort'));
    report.first = document.querySelector('#kernels tbody a').textContent;
    for (const row of document.querySelectorAll('#kernels tbody tr')) report.contents[row.cells[0].textContent] = row.cells[row.cells.length - 1].textContent;
    for (const table of document.querySelectorAll('table.global'))
      report.tables[table.closest('section').querySelector('h2').textContent] = [...table.tBodies[0].rows].map(cells);
    if (document.documentElement.scrollWidth > innerWidth) report.errors.push('it scrolls sideways');
  } catch (error) {
    report.errors.push(String(error.stack));
  }
  const out = document.createElement('pre');
  out.id = 'report';
  out.textContent = JSON.stringify(report);
  document.body.append(out);
}
