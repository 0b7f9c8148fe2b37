/** The clients for which `gateway --print` knows how to install Earpiece. */
export const INSTALL_HOSTS = ['claude', 'codex', 'gemini', 'qwen', 'opencode', 'cursor', 'vscode', 'json'] as const;
export type InstallHost = (typeof INSTALL_HOSTS)[number];
