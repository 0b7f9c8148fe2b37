/**
 * Runs a GitHub on loopback for the real `gh`, which speaks plain HTTP to the host `github.localhost`. `HTTP_PROXY` names this
 * server, so `gh` sends its requests to the server. The server has the REST routes that a follower reads, with ETags, and the
 * GraphQL of `gh pr view`.
 */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { findGh, WAY_OUT } from '../../scripts/gh.ts';

if (findGh() === undefined) throw new Error(`there is no gh; run node scripts/gh.ts, or ${WAY_OUT}`);

type Json = Record<string, unknown>;

export type Asked = { readonly path: string; readonly status: number };

/** The server's answers to the next requests. With `only`, requests whose path does not match get the normal answer. */
export type Mood = { readonly only?: RegExp } & (
  | { readonly kind: 'well' }
  | { readonly kind: 'status'; readonly status: number; readonly headers?: Record<string, string>; readonly body?: string }
  | { readonly kind: 'slow'; readonly ms: number }
  | { readonly kind: 'silent' }
);

export const HOST = 'github.localhost';

export class GitHub implements AsyncDisposable {
  readonly asked: Asked[] = [];
  readonly pull: Json = {
    number: 12,
    title: 'Round once',
    state: 'open',
    merged: false,
    mergeable_state: 'clean',
    html_url: `http://${HOST}/acme/shop/pull/12`,
    head: { sha: 'aaaa1111', ref: 'round' },
    base: { ref: 'main' },
  };
  runs: Json[] = [];
  statuses: Json[] = [];
  reviews: Json[] = [];
  inCode: Json[] = [];
  comments: Json[] = [];
  jobs: Record<string, Json> = {};
  logs: Record<string, string> = {};
  mood: Mood = { kind: 'well' };
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<GitHub> {
    const server = createServer();
    const github = new GitHub(server);
    server.on('request', (request, response) => void github.#answer(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return github;
  }

  /** The environment with which `gh` uses this server, signed in as `me`. */
  get env(): Record<string, string> {
    const proxy = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return { GH_HOST: HOST, GH_TOKEN: 'gho_test', HTTP_PROXY: proxy, http_proxy: proxy, NO_PROXY: '', no_proxy: '' };
  }

  /**
   * Makes a job of GitHub Actions, whose step `Run tests` passes, or fails with this log. Without `went`, the job is in progress.
   */
  job(id: number, name: string, went: 'success' | 'failure' | undefined, log: readonly string[] = []): void {
    this.runs = [
      ...this.runs.filter((run) => run['name'] !== name),
      {
        id,
        name,
        status: went === undefined ? 'in_progress' : 'completed',
        conclusion: went ?? null,
        details_url: `http://${HOST}/acme/shop/actions/runs/7/job/${id}`,
        app: { slug: 'github-actions' },
      },
    ];
    const step = (title: string, conclusion: string, from: number): Json => ({
      name: title,
      conclusion,
      started_at: `2026-11-23T08:14:${from}Z`,
      completed_at: `2026-11-23T08:14:${from + 9}Z`,
    });
    this.jobs[id] = { id, name, steps: [step('Set up job', 'success', 10), step('Run tests', went ?? 'success', 20)] };
    const stamped = (second: number, text: string): string => `2026-11-23T08:14:${second}.1234567Z ${text}`;
    this.logs[id] = [
      stamped(11, 'Error: this warning of the set-up is not the cause'),
      stamped(20, '##[group]Run npm test'),
      stamped(20, 'npm test'),
      stamped(20, 'shell: /usr/bin/bash -e {0}'),
      stamped(20, '##[endgroup]'),
      ...log.map((line) => stamped(22, line)),
      stamped(23, '##[error]Process completed with exit code 1.'),
      stamped(40, 'Post job cleanup.'),
    ].join('\n');
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // A proxy gets requests with whole URLs.
    const url = new URL(request.url ?? '/', `http://api.${HOST}`);
    const body = await text(request);
    const mood: Mood = this.mood.only?.test(url.pathname) === false ? { kind: 'well' } : this.mood;
    if (mood.kind === 'silent') return void request.socket.destroy();
    if (mood.kind === 'slow') await new Promise((resolve) => setTimeout(resolve, mood.ms));
    const send = (status: number, headers: Record<string, string>, content: string): void => {
      this.asked.push({ path: `${url.pathname}${url.search}`, status });
      response.writeHead(status, headers).end(content);
    };
    if (mood.kind === 'status') return send(mood.status, mood.headers ?? {}, mood.body ?? JSON.stringify({ message: 'no' }));
    if (request.headers.authorization !== 'token gho_test') return send(401, {}, JSON.stringify({ message: 'Bad credentials' }));
    if (url.pathname === '/graphql') return send(200, JSON_TYPE, JSON.stringify(this.#graphql(body)));
    const log = /\/actions\/jobs\/(\d+)\/logs$/u.exec(url.pathname)?.[1];
    if (log !== undefined) return send(302, { location: `http://blobs.${HOST}/logs/${log}` }, '');
    const blob = /^\/logs\/(\d+)$/u.exec(url.pathname)?.[1];
    if (blob !== undefined) return send(200, { 'content-type': 'text/plain' }, this.logs[blob] ?? '');
    const found = this.#rest(url);
    if (found === undefined) return send(404, JSON_TYPE, JSON.stringify({ message: 'Not Found' }));
    const content = JSON.stringify(found);
    const etag = `W/"${createHash('sha256').update(content).digest('hex').slice(0, 16)}"`;
    if (request.headers['if-none-match'] === etag) return send(304, { etag }, '');
    send(200, { ...JSON_TYPE, etag, 'x-ratelimit-remaining': '4999' }, content);
  }

  #rest({ pathname, searchParams }: URL): unknown {
    const page = <T>(all: readonly T[]): readonly T[] => {
      const size = Number(searchParams.get('per_page') ?? 30);
      const from = (Number(searchParams.get('page') ?? 1) - 1) * size;
      const since = searchParams.get('since') ?? '';
      const changedAt = ({ updated_at, created_at = '9' }: { updated_at?: string; created_at?: string }): string =>
        updated_at ?? created_at;
      return all.filter((each) => changedAt(each as object) >= since).slice(from, from + size);
    };
    const base = '/repos/acme/shop';
    const { sha } = this.pull['head'] as { sha: string };
    const job = /\/actions\/jobs\/(\d+)$/u.exec(pathname)?.[1];
    if (job !== undefined) return this.jobs[job];
    const review = /\/reviews\/(\d+)\/comments$/u.exec(pathname)?.[1];
    if (review !== undefined) return page(this.inCode.filter((each) => each['pull_request_review_id'] === Number(review)));
    switch (pathname) {
      case '/user':
        return { login: 'me' };
      case `${base}/pulls/12`:
        return this.pull;
      case `${base}/commits/${sha}/check-runs`:
        return { total_count: this.runs.length, check_runs: page(this.runs) };
      case `${base}/commits/${sha}/status`:
        return { state: 'x', total_count: this.statuses.length, statuses: page(this.statuses) };
      case `${base}/pulls/12/reviews`:
        return page(this.reviews);
      case `${base}/pulls/12/comments`:
        return page(this.inCode);
      case `${base}/issues/12/comments`:
        return page(this.comments);
      default:
        return undefined;
    }
  }

  /** Returns the answer for `gh pr view`: one pull request by its number, or those of a branch. */
  #graphql(body: string): unknown {
    const { variables } = JSON.parse(body) as { variables: Json };
    const { number, title, html_url: url, head, merged, state } = this.pull;
    const view = {
      id: 'PR_1',
      number,
      title,
      url,
      state: merged === true ? 'MERGED' : state === 'closed' ? 'CLOSED' : 'OPEN',
      baseRefName: 'main',
      headRefName: (head as Json)['ref'],
      isCrossRepository: false,
      headRepositoryOwner: { id: 'U_1', login: 'acme' },
    };
    if ('pr_number' in variables || 'number' in variables) {
      const asked = Number(variables['pr_number'] ?? variables['number']);
      if (asked !== number)
        return {
          data: { repository: { pullRequest: null } },
          errors: [{ type: 'NOT_FOUND', message: `Could not resolve to a PullRequest with the number of ${asked}.` }],
        };
      return { data: { repository: { pullRequest: view } } };
    }
    const nodes = variables['headRefName'] === (head as Json)['ref'] ? [view] : [];
    return { data: { repository: { pullRequests: { nodes }, defaultBranchRef: { name: 'main' } } } };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };

async function text(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString('utf8');
}
