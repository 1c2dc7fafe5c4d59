import { expect, it } from 'vitest';
import { anInstallation } from '../../../test/helpers/installation.ts';
import { aCsv, aRegistryBundle } from '../../../test/helpers/registry-bundle.ts';
import { roomForRoles } from './room-for-roles.ts';

const resourceNames = Array.from({ length: 25_000 }, (_, index) => `name-${index}`);
const rule = {
  verbs: ['get'],
  apiGroups: [''],
  resources: ['pods'],
  resourceNames,
  nonResourceURLs: undefined,
  asWritten: { verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames },
};
const permissions = [{ serviceAccountName: 'a', rules: [rule] }];
const bundle = aRegistryBundle({ csv: aCsv({ permissions }) });

it('refuses what many namespaces would make of large permissions', () => {
  const targetNamespaces = Array.from({ length: 250 }, (_, index) => `n${index}`);
  const installation = anInstallation({ targetNamespaces, configured: true });
  expect(roomForRoles(bundle, installation)).toMatch(
    /^Roles for 1 permissions in 251 namespaces would take \d\d MiB, more than 64 MiB: name fewer/,
  );
  const few = anInstallation({ targetNamespaces: targetNamespaces.slice(0, 10), configured: true });
  expect(roomForRoles(bundle, few)).toBeUndefined();
  expect(roomForRoles(bundle, anInstallation())).toBeUndefined();
});

it('counts Roles without rules as well', () => {
  const many = Array.from({ length: 40_000 }, (_, index) => ({
    serviceAccountName: `a${index}`,
    rules: undefined,
  }));
  const installation = anInstallation({ targetNamespaces: ['a', 'b'], configured: true });
  expect(
    roomForRoles(aRegistryBundle({ csv: aCsv({ permissions: many }) }), installation),
  ).toContain('Roles for 40000 permissions in 3 namespaces');
});
