import { expect, test } from 'vitest';
import { configWriter } from './change.ts';
import { world } from './fixtures.ts';
import { explain } from './index.ts';

test.each([
  ['budget.max_item_chars', 9_000],
  ['interrupt', 'after'],
  ['max_level.a', 'warning'],
  ['ttl.critical', '1h'],
  ['view', 'signal_en'],
  ['wake.error', 'auto'],
])("a person who sets %s in the project's file trusts the value", async (key, value) => {
  const here = world();
  await configWriter(here.options()).change('project', [{ key, to: { kind: 'value', value } }]);
  const { config, problems } = here.read();
  expect(problems).toEqual([]);
  expect(explain(config, key)).toMatchObject({ kind: 'setting', decidedBy: expect.stringContaining(here.projectFile) });
});
