/**
 * Tests `earpiece doctor` on variables in the settings of an agent, with which Earpiece uses another database, project or
 * address.
 */
import { describe, expect, it } from 'vitest';
import { proves } from '../verifies.ts';
import { append, CLAUDE, GEMINI, merge, reports, reportsNothing, serverEnv, write, type Fault, type Harmless } from './faults.ts';
import { Home } from './home.ts';

const FAULTS: Readonly<Record<string, Fault>> = {
  'Claude: the settings name another database': {
    agent: 'claude',
    make: merge(CLAUDE, () => ({ env: { EARPIECE_DB: '/data/other.db' } })),
    says: /home\/\.claude\/settings\.json has env\.EARPIECE_DB = \/data\/other\.db: the hooks and the MCP server use another database than this shell/u,
    advice:
      /^remove this variable from \S+\/home\/\.claude\/settings\.json, or set EARPIECE_DB to the same value in this shell$/u,
  },
  'Claude: the local settings of the project name another state folder': {
    agent: 'claude',
    make: write('shop/.claude/settings.local.json', { env: { XDG_STATE_HOME: '/data/state' } }),
    says: /shop\/\.claude\/settings\.local\.json has env\.XDG_STATE_HOME = \/data\/state: the hooks and the MCP server use another database/u,
    advice: /^remove this variable from /u,
  },
  'Claude: the project has another name in the settings': {
    agent: 'claude',
    make: write(`shop/${CLAUDE}`, { env: { EARPIECE_PROJECT: 'elsewhere' } }),
    says: /shop\/\.claude\/settings\.json has env\.EARPIECE_PROJECT = elsewhere: the hooks and the MCP server use another project/u,
    advice: /^remove this variable from /u,
  },
  'Claude: the address in the settings is of another project': {
    agent: 'claude',
    make: merge(CLAUDE, () => ({ env: { EARPIECE_ADDRESS: 'elsewhere/coder' } })),
    says: /has env\.EARPIECE_ADDRESS = elsewhere\/coder: the hooks and the MCP server use another project/u,
    advice: /^remove this variable from /u,
  },
  'Claude: the MCP server has another database, with a password': {
    agent: 'claude',
    make: serverEnv('.claude.json', 'mcpServers', 'env', { EARPIECE_DB: 'postgres://me:s3cret@db/ear' }),
    says: /\.claude\.json has mcpServers\.earpiece\.env\.EARPIECE_DB = postgres:\/\/(?!.*s3cret)\S+: the MCP server uses another database/u,
    advice: /^remove this variable from \S+\/\.claude\.json$/u,
  },
  'Claude: the MCP server has another address than the hooks': {
    agent: 'claude',
    make: serverEnv('.claude.json', 'mcpServers', 'env', { EARPIECE_ADDRESS: 'shop/coder' }),
    says: /has mcpServers\.earpiece\.env\.EARPIECE_ADDRESS = shop\/coder: the MCP server has another address than the hooks/u,
    advice: /^remove this variable from /u,
  },
  'Gemini: the MCP server has another database': {
    agent: 'gemini',
    make: serverEnv(GEMINI, 'mcpServers', 'env', { EARPIECE_DB: '$HOME/other.db' }),
    says: /has mcpServers\.earpiece\.env\.EARPIECE_DB = \S+\/home\/other\.db: the MCP server uses another database/u,
    advice: /^remove this variable from /u,
  },
  'Gemini: a file with variables names another database': {
    agent: 'gemini',
    make: (home) => void home.write('shop/.env', 'EARPIECE_DB=/data/other.db\n'),
    says: /shop\/\.env has EARPIECE_DB = \/data\/other\.db: the hooks and the MCP server use another database/u,
    advice: /^remove this variable from /u,
  },
  'Qwen: the settings name another database': {
    agent: 'qwen',
    make: merge('.qwen/settings.json', () => ({ env: { EARPIECE_DB: '/data/other.db' } })),
    says: /\.qwen\/settings\.json has env\.EARPIECE_DB = \/data\/other\.db: the hooks and the MCP server use another database/u,
    advice: /^remove this variable from /u,
  },
  'Qwen: the MCP server has another database': {
    agent: 'qwen',
    make: serverEnv('.qwen/settings.json', 'mcpServers', 'env', { EARPIECE_DB: '/data/other.db' }),
    says: /has mcpServers\.earpiece\.env\.EARPIECE_DB = \/data\/other\.db: the MCP server uses another database/u,
    advice: /^remove this variable from /u,
  },
  'Codex: the MCP server has another database': {
    agent: 'codex',
    make: append('.codex/config.toml', '\n[mcp_servers.earpiece.env]\nEARPIECE_DB = "/data/other.db"\n'),
    says: /has mcp_servers\.earpiece\.env\.EARPIECE_DB = \/data\/other\.db: the MCP server uses another database/u,
    advice: /^remove this variable from /u,
  },
  'Codex: the commands have another database': {
    agent: 'codex',
    make: append('.codex/config.toml', '\n[shell_environment_policy]\nset = { EARPIECE_DB = "/data/other.db" }\n'),
    says: /has shell_environment_policy\.set\.EARPIECE_DB = \/data\/other\.db: the commands of the agent use another database/u,
    advice: /^remove this variable from /u,
  },
  'opencode: the MCP server has another database': {
    agent: 'opencode',
    make: serverEnv('.config/opencode/opencode.json', 'mcp', 'environment', { EARPIECE_DB: '/data/other.db' }),
    says: /has mcp\.earpiece\.environment\.EARPIECE_DB = \/data\/other\.db: the MCP server uses another database/u,
    advice: /^remove this variable from /u,
  },
};

reports(FAULTS);

const HARMLESS: Readonly<Record<string, Harmless>> = {
  'Claude: the settings name the agent': {
    agent: 'claude',
    make: merge(CLAUDE, () => ({ env: { EARPIECE_ADDRESS: 'coder', EARPIECE_PROJECT: 'shop' } })),
  },
};

reportsNothing(HARMLESS);

describe('a database that the settings and this shell name', () => {
  proves('hosts:doctor');
  it('is not reported', () => {
    using home = new Home('claude');
    expect(home.run(['install', '--yes'])).toMatchObject({ code: 0, stderr: '' });
    const db = `${home.home}/own.db`;
    merge(CLAUDE, () => ({ env: { EARPIECE_DB: db } }))(home);
    const { code, stdout } = home.run(['doctor', '--json'], { env: { EARPIECE_DB: db } });
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('Claude Code is connected') as string });
  });
});
