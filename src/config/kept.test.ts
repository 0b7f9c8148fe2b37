import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { proves } from '../../e2e/verifies.ts';
import { keptVariable } from './kept.ts';
import { parseMcpServers } from './mcp-servers.ts';

describe('the variable of a kept value', () => {
  proves('hosts:wrap');

  test.each([
    { one: ['a-b', 'TOKEN'], other: ['a_b', 'TOKEN'] },
    { one: ['a', 'b__TOKEN'], other: ['a__b', 'TOKEN'] },
    { one: ['a', '_T'], other: ['a_', 'T'] },
  ] as const)('$one and $other have different variables', ({ one, other }) => {
    expect(keptVariable(one[0], one[1])).not.toBe(keptVariable(other[0], other[1]));
  });

  test('belongs to one server and one name', () => {
    const part = fc.string({ unit: fc.constantFrom('a', '2', 'd', '_', '-', 'é', '😀'), maxLength: 8 });
    fc.assert(
      fc.property(part, part, part, part, (server, name, otherServer, otherName) => {
        const isSame = server === otherServer && name === otherName;
        expect(keptVariable(server, name) === keptVariable(otherServer, otherName)).toBe(isSame);
        expect(keptVariable(server, name)).toMatch(/^[A-Za-z_]\w*$/u);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('a kept value', () => {
  proves('hosts:wrap');
  const variable = keptVariable('one', 'TOKEN');
  const parse = (server: object, name = 'one') => {
    const text = JSON.stringify({ mcpServers: { [name]: server } });
    const { servers, leftOut } = parseMcpServers(text, '/p/mcp.json', { env: { [variable]: 'secret', OTHER: 'x' }, home: '/h' });
    return { told: JSON.stringify({ servers, leftOut }), leftOut };
  };

  test('a kept value, even an empty one, reaches only its server, under its name', () => {
    expect(parse({ command: 'x', env: { TOKEN: `\${${variable}}` } }).told).toContain('"TOKEN":"secret"');
    const empty = keptVariable('one', 'E');
    const text = JSON.stringify({ mcpServers: { one: { command: 'x', env: { E: `\${${empty}}` } } } });
    expect(parseMcpServers(text, '/p/mcp.json', { env: { [empty]: '' } }).servers['one']?.target).toMatchObject({
      env: { E: '' },
    });
  });

  test.each<[where: string, server: object, name?: string]>([
    ['args', { command: 'x', args: [`\${${variable}}`] }],
    ['args with a default', { command: 'x', args: [`\${${variable}:-none}`] }],
    ['args in the form of opencode', { command: 'x', args: [`{env:${variable}}`] }],
    ['the command', { command: `\${env:${variable}}` }],
    ['cwd', { command: 'x', cwd: `/tmp/\${${variable}:-}` }],
    ['url', { url: `https://h/\${${variable}}` }],
    ['headers', { url: 'https://h', headers: { A: `\${${variable}}` } }],
    ['another name', { command: 'x', env: { OTHER: `\${${variable}}` } }],
    ['another server', { command: 'x', env: { TOKEN: `\${${variable}}` } }, 'two'],
  ])('reaches no other place: %s', (_where, server, name) => {
    const { told, leftOut } = parse(server, name);
    expect(told).not.toContain('secret');
    expect(Object.values(leftOut)).toEqual([
      `its entry refers to ${variable}, which Earpiece passes only to the env of one server; remove this reference`,
    ]);
  });
});
