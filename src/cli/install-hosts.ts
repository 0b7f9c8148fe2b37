/** Lists the clients for which `gateway --print` can print an installation of Earpiece. */
export const INSTALL_HOSTS = ['claude', 'codex', 'gemini', 'qwen', 'opencode', 'cursor', 'vscode', 'json'] as const;
export type InstallHost = (typeof INSTALL_HOSTS)[number];
