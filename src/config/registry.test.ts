import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeState } from './state-file.ts';
import { projectsFile, readEntries, takeName } from './registry.ts';

test('the registry forgets the oldest names first if too many folders were removed', () => {
  const home = mkdtempSync(join(tmpdir(), 'earpiece-registry-'));
  try {
    const at = { env: { HOME: home, XDG_STATE_HOME: join(home, 'state') } };
    const gone = Array.from({ length: 500 }, (_, n) => [`old${n}`, join(home, `old${n}`), join(home, `old${n}`)] as const);
    writeState(projectsFile(at), { version: 1, projects: gone });
    for (const name of ['moved', 'another']) {
      const folder = join(home, name);
      mkdirSync(folder);
      takeName(at, name, { folder, root: folder });
      rmSync(folder, { recursive: true });
    }
    takeName(at, 'here', { folder: home, root: home });
    const names = readEntries(at).map(([name]) => name);
    expect(names).toEqual(expect.arrayContaining(['old2', 'moved', 'another', 'here']));
    expect(names).not.toContain('old0');
    expect(names).not.toContain('old1');
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});
