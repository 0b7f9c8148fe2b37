import { expect, test } from 'vitest';
import { settingCommand } from './cures.ts';

test('the command for a budget raises it, and the command for a filter removes the filter from its file', () => {
  const budget = { kind: 'budget', how: 'waits', cause: { kind: 'max_items', limit: 5 } } as const;
  expect(settingCommand('budget.max_items', budget)).toBe('earpiece config set budget.max_items 10 --project');
  expect(settingCommand('budget.max_items', { ...budget, cause: { kind: 'max_items', limit: 800 } })).toBe(
    'earpiece config set budget.max_items 1000 --project',
  );
  const filtered = { kind: 'filtered', key: 'min_level', setting: 'x', file: null, over: true, holds: true } as const;
  expect(settingCommand('min_level', { ...filtered, file: '/etc/xdg/earpiece/earpiece.toml:3', scope: 'user' })).toBe(
    'earpiece config unset min_level',
  );
  expect(settingCommand('min_level', { ...filtered, file: '/home/a/.config/earpiece/earpiece.toml:3', scope: 'project' })).toBe(
    'earpiece config unset min_level --project',
  );
  expect(settingCommand('min_level', { ...filtered, file: 'EARPIECE_MIN_LEVEL' })).toBeUndefined();
});

test('for a filter that no file sets, the command sets the key or explains it, and unsets nothing', () => {
  const filtered = { kind: 'filtered', key: 'x', setting: 'x', file: null, over: true, holds: true } as const;
  expect(settingCommand('conversation.tools.bash.notifications.content', filtered)).toBe(
    'earpiece config set conversation.tools.bash.notifications.content true --project',
  );
  expect(settingCommand('min_level', filtered)).toBe('earpiece config explain min_level');
});
