import { createProxyChooser, type ProxyConfig } from './proxy.ts';

/**
 * The proxies that the environment names: HTTP_PROXY, HTTPS_PROXY and NO_PROXY, or the same in
 * lower case where they are not set.
 * @throws Error that names the variable that cannot be used
 */
export function proxyFromEnvironment(env: NodeJS.ProcessEnv = process.env): ProxyConfig {
  const config = {
    ...variable(env, 'httpProxy', 'HTTP_PROXY'),
    ...variable(env, 'httpsProxy', 'HTTPS_PROXY'),
    ...variable(env, 'noProxy', 'NO_PROXY'),
  };
  // Refuses what is wrong when the process starts, not at the first fetch.
  createProxyChooser(config);
  return config;
}

function variable(env: NodeJS.ProcessEnv, field: keyof ProxyConfig, name: string): ProxyConfig {
  const value = [env[name], env[name.toLowerCase()]].find((value) => (value ?? '') !== '');
  return value === undefined ? {} : { [field]: value };
}
