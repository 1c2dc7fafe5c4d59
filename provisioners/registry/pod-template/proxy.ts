import type { ClusterProxy } from '../../../core/sdk.ts';
import type { NamedItem } from '../overrides/deployment-overrides.ts';
import type { DeploymentStep } from './deployment-step.ts';
import { withEnvironment } from './environment.ts';

const variables: readonly (readonly [string, keyof ClusterProxy])[] = [
  ['HTTP_PROXY', 'httpProxy'],
  ['HTTPS_PROXY', 'httpsProxy'],
  ['NO_PROXY', 'noProxy'],
];

/**
 * The cluster's proxies in every container, whatever the CSV says there. A spec.config that sets one
 * of the variables speaks for all of them, as in OLM: it may be that there is to be no proxy.
 */
export const proxy: DeploymentStep = (spec, { installation: { overrides, cluster } }) => {
  const names = variables.map(([name]) => name);
  if (overrides.env?.some(({ name }) => names.includes(name)) === true) return spec;
  const set = variables.flatMap(([name, field]): readonly NamedItem[] => {
    const value = cluster?.proxy?.[field] ?? '';
    return value === '' ? [] : [{ name, value }];
  });
  return withEnvironment(spec, set);
};
