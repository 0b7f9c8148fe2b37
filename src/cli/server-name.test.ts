import { describe, expect, test } from 'vitest';

import { proves } from '../../e2e/verifies.ts';
import { serverName } from './server-name.ts';

describe('the default name of a server', () => {
  proves('gateway:names');
  test.each<[string, string]>([
    ['npx -y @modelcontextprotocol/server-filesystem /tmp', 'filesystem'],
    ['npx @playwright/mcp@latest', 'playwright'],
    ['npx @playwright/mcp@latest --headless', 'playwright'],
    ['npx -y foo .', 'foo'],
    ['npx -y @upstash/context7-mcp@1.0.31 --api-key KEY', 'context7'],
    ['npx -p @scope/tools tool-cmd --flag', 'tool-cmd'],
    ['npx --yes -- some-mcp-server@2', 'some'],
    ['npx -y mcp-remote https://example.com/sse', 'remote'],
    ['npx -y github:user/repo-mcp#main', 'repo'],
    ['npx -y @acme/mcp-server', 'acme'],
    ['npx -y ./tools/weather', 'weather'],
    ['npx.cmd -y foo', 'foo'],
    ['cmd /c npx -y foo', 'foo'],
    ['npm exec -y -- @sentry/mcp-server@latest', 'sentry'],
    ['npm x foo', 'foo'],
    ['pnpm dlx @scope/thing-mcp', 'thing'],
    ['yarn dlx thing', 'thing'],
    ['npm run weather', 'weather'],
    ['bunx @supabase/mcp-server-supabase@latest --access-token T', 'supabase'],
    ['bun x thing', 'thing'],
    ['bun run src/weather.ts', 'weather'],
    ['bun weather/index.ts', 'weather'],
    ['uvx mcp-server-git --repository .', 'git'],
    ['uvx mcp-server-fetch==2025.1.17', 'fetch'],
    ['uvx basic-memory[all]@latest mcp', 'basic-memory'],
    ['uvx --from git+https://github.com/oraios/serena serena start-mcp-server', 'serena'],
    ['uvx --python 3.12 awslabs.core-mcp-server@latest', 'awslabs-core'],
    ['uv tool run mcp-server-time', 'time'],
    ['uv --directory D run x.py', 'x'],
    ['uv run x.py', 'x'],
    ['uv run --with mcp mcp run weather/server.py', 'weather'],
    ['uv --directory /srv/weather run server.py', 'weather'],
    ['uv run --project weather -m weather_api.server', 'weather_api'],
    ['uv run python -m weather', 'weather'],
    ['uv run --directory /opt/weather-mcp weather-cli', 'weather-cli'],
    ['pipx run mcp-server-sqlite', 'sqlite'],
    ['python -m pkg', 'pkg'],
    ['python3 -u -m mcp_server_git --repository .', 'git'],
    ['python3.12 /srv/weather/server.py', 'weather'],
    ['python -m weather.server', 'weather'],
    ['.venv/bin/python tools/calc.py', 'calc'],
    ['python -c print()', 'server'],
    ['node path/index.js', 'path'],
    ['node /x/node_modules/@playwright/mcp/cli.js --headless', 'playwright'],
    ['node /x/server-filesystem/dist/index.js /tmp', 'filesystem'],
    ['node --import tsx src/calendar.ts', 'calendar'],
    ['node --env-file=.env build/index.js', 'server'],
    ['node -e console.log()', 'server'],
    ['tsx watch src/calendar.ts', 'calendar'],
    ['deno run -A jsr:@acme/weather-mcp', 'weather'],
    ['deno run --allow-net npm:@acme/mcp', 'acme'],
    ['deno run -A --config deno.json main/notes.ts', 'notes'],
    ['docker run -i --rm -e TOKEN image', 'image'],
    ['docker run -i --rm -e TOKEN ghcr.io/github/github-mcp-server', 'github'],
    ['docker run --rm -i --mount type=bind,src=/a,dst=/b mcp/filesystem:latest /b', 'filesystem'],
    ['docker run -i --network host -v /a:/b:ro localhost:5000/team/search@sha256:abc', 'search'],
    ['docker run -it --name=x --env=A=1 mcp/postgres postgresql://h/db', 'postgres'],
    ['podman run -i mcp/time', 'time'],
    ['docker mcp gateway run', 'server'],
    ['java -Xmx1g -jar /opt/jdbc-mcp.jar', 'jdbc'],
    ['go run ./cmd/weather', 'weather'],
    ['go run github.com/acme/mcp-weather@latest', 'weather'],
    ['/usr/local/bin/github-mcp-server stdio', 'github'],
    ['mcp-server-git', 'git'],
    ['C:\\tools\\weather-mcp.exe --x', 'weather'],
    ['env TOKEN=x A=b npx -y foo', 'foo'],
    ['env -u HOME TOKEN=x uvx mcp-server-git', 'git'],
    ['sudo -u me /opt/weather', 'weather'],
    ['timeout 60 npx foo', 'foo'],
    ['sh run-weather.sh', 'run-weather'],
    ['mcp-server', 'server'],
    ['--', 'server'],
    ['https://mcp.linear.app/sse', 'linear'],
    ['https://mcp.context7.com/mcp', 'context7'],
    ['https://api.githubcopilot.com/mcp/', 'githubcopilot'],
    ['http://localhost:3000/mcp', 'localhost'],
    ['http://127.0.0.1:3000/mcp', 'server'],
    ['https://example.com/mcp', 'example'],
  ])('%s', (line, name) => {
    expect(serverName(line.split(' '))).toBe(name);
  });

  test('is found in the command line of a shell', () => {
    expect(serverName(['bash', '-lc', 'exec npx -y @playwright/mcp@latest'])).toBe('playwright');
    expect(serverName(['sh', '-c', 'uvx mcp-server-git'])).toBe('git');
    expect(serverName(['sh', '-c', ''])).toBe('server');
    expect(serverName([])).toBe('server');
  });

  test('clients accept every default name', () => {
    for (const words of [['npx', '-y', 'x'.repeat(100)], ['./-dashes-'], ['naïve mcp'], ['node', '../..'], ['@@/@']])
      expect(serverName(words)).toMatch(/^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/);
  });
});
