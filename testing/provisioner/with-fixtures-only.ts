import type { Provisioner } from '../../core/sdk.ts';
import type { ProvisionerFixtures } from './fixtures.ts';

/**
 * A class behind a URL with the handlers that there are fixtures for: it has all of them, as its
 * server says later which it serves.
 */
export function withFixturesOnly(
  provisioner: Provisioner,
  { bundles = [], configured = [], deployments = [] }: ProvisionerFixtures,
): Provisioner {
  const lacking: readonly (keyof Provisioner)[] = [
    ...(bundles.length === 0 ? (['bundle'] as const) : []),
    ...(configured.length === 0 ? (['configure'] as const) : []),
    ...(deployments.length === 0 ? (['inputs', 'deployment'] as const) : []),
  ];
  const none = Object.fromEntries(lacking.map((handler) => [handler, { value: undefined }]));
  // No copy: what it uses is known once it has been called.
  return Object.create(provisioner, none) as Provisioner;
}
