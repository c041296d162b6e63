// Runs inside a page of many kernels: searches, sorts and moves as a reader does, by events alone, and writes what the page then shows.
{
  const report = {errors: [], searches: {}, sorted: {}};
  const $ = id => document.getElementById(id);
  const at = node => Number((node.hash ?? '#' + node.id).slice(8));
  const look = () => ({rows: [...document.querySelectorAll('#kernels tbody a')].map(at), sections: [...document.querySelectorAll('#each section')].map(at),
    waiting: document.querySelectorAll('section.waiting').length, said: $('found').textContent,
    sort: [...document.querySelectorAll('#kernels th')].map(th => th.getAttribute('aria-sort'))});
  const press = key => document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true, cancelable: true}));
  const search = text => { $('find').value = text; $('find').dispatchEvent(new InputEvent('input', {bubbles: true})); };
  try {
    report.opened = look();
    report.loaded_after_ms = performance.now();
    for (const text of ['naive', 'PADDED 7', 'nothing']) { search(text); report.searches[text] = look(); }
    search('');
    for (const column of [0, 0, 4]) {
      $('kernels').rows[0].cells[column].querySelector('button').click();
      const seen = look();
      report.sorted[`${column} ${seen.sort[column]}`] = seen;
      if (document.activeElement.closest('th')?.cellIndex !== column) report.errors.push('the column that was chosen has lost the focus');
    }
    document.activeElement.blur();
    press('/');
    if (document.activeElement !== $('find')) report.errors.push('/ does not search');
    search('swizzled');
    press('ArrowDown'), press('ArrowDown');
    report.second = at(document.activeElement);
    press('ArrowUp'), press('ArrowUp');
    if (document.activeElement !== $('find')) report.errors.push('the arrow does not lead back');
    press('Escape');
    if ($('find').value !== '' || look().said.includes('of')) report.errors.push('Escape does not clear the search');
    press('ArrowDown');
    for (let i = 1; i < 150; ++i) press('ArrowDown');
    report.far = look().rows.indexOf(at(document.activeElement));
    document.activeElement.click();  // as Enter does
    report.target = at(document.activeElement);
    location.hash = '#kernel-' + report.target;
    dispatchEvent(new HashChangeEvent('hashchange'));
    if ($(`kernel-${report.target}`).matches('.waiting')) report.errors.push('the kernel that was chosen is not drawn');
    search('padded 7');
    dispatchEvent(new Event('beforeprint'));
    report.printed = look();
    if (document.documentElement.scrollWidth > innerWidth) report.errors.push('it scrolls sideways');
  } catch (error) {
    report.errors.push(String(error.stack));
  }
  const out = document.createElement('pre');
  out.id = 'report';
  out.textContent = JSON.stringify(report);
  document.body.append(out);
}
