import { describe, expect, it } from 'vitest';
import { anInstallation } from '../../../test/helpers/installation.ts';
import { aCsv, aRegistryBundle, messageOf } from '../../../test/helpers/registry-bundle.ts';
import { roomForRoles, supportedInstallMode } from './install-modes.ts';

const own = 'OwnNamespace';
const single = 'SingleNamespace';
const multi = 'MultiNamespace';
const all = 'AllNamespaces';

function bundleOf(...types: readonly string[]) {
  const installModes = types.map((type) => ({ type, supported: true }));
  return aRegistryBundle({ csv: aCsv({ installModes }) });
}

describe('without a spec.config', () => {
  const message = 'AllNamespace install mode must be enabled';

  it.each([
    ['no modes', [], message],
    ['another mode', [{ type: own, supported: true }], message],
    ['the mode switched off', [{ type: all, supported: false }], message],
    ['another spelling', [{ type: 'allnamespaces', supported: true }], message],
    [
      'the mode among others',
      [
        { type: own, supported: false },
        { type: all, supported: true },
      ],
      undefined,
    ],
  ])('%s is judged as by v0.16', (_case, installModes, expected) => {
    const bundle = aRegistryBundle({ csv: aCsv({ installModes }) });
    expect(messageOf(supportedInstallMode(bundle, anInstallation()))).toBe(expected);
  });
});

describe('with a spec.config', () => {
  const complaint = (modes: readonly string[], targetNamespaces: readonly string[]) =>
    messageOf(
      supportedInstallMode(
        bundleOf(...modes),
        anInstallation({ configured: true, installNamespace: 'own', targetNamespaces }),
      ),
    );

  it.each([
    [[all], ['']],
    [[own], ['own']],
    [[single], ['a']],
    [[multi], ['a', 'b']],
    [
      [multi, own],
      ['a', 'own'],
    ],
  ])("%j is enough for %j, by OLM's rules", (modes, targets) => {
    expect(complaint(modes, targets)).toBeUndefined();
  });

  it.each([
    [
      [own],
      [''],
      'supported install modes [OwnNamespace] do not support targeting all namespaces: write spec.config.watchNamespace: own',
    ],
    [
      [own],
      ['a'],
      'supported install modes [OwnNamespace] do not support target namespaces [a]: write spec.config.watchNamespace: own, or spec.config.installNamespace: a',
    ],
    [
      [single, all],
      ['own'],
      'supported install modes [AllNamespaces SingleNamespace] do not support target namespaces [own]: write neither spec.config.watchNamespace nor watchNamespaces, or spec.config.watchNamespace: <another namespace than own>',
    ],
    [
      [single, own],
      ['a', 'b'],
      'supported install modes [OwnNamespace SingleNamespace] do not support target namespaces [a b]: write spec.config.watchNamespace: own, or spec.config.watchNamespace: <another namespace than own>',
    ],
    [
      [multi],
      ['a', 'own'],
      'supported install modes [MultiNamespace] do not support target namespaces [a own]: write spec.config.watchNamespaces: <several namespaces without own>',
    ],
    [
      [multi],
      ['a'],
      'supported install modes [MultiNamespace] do not support target namespaces [a]: write spec.config.watchNamespaces: <several namespaces without own>',
    ],
    [
      [],
      ['a'],
      'supported install modes [] do not support target namespaces [a]: the operator supports none, correct spec.installModes of its CSV',
    ],
  ])('%j is not enough for %j', (modes, targets, expected) => {
    expect(complaint(modes, targets)).toBe(expected);
  });
});

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
  expect(messageOf(roomForRoles(bundle, installation))).toMatch(
    /^Roles for 1 permissions in 251 namespaces would take \d\d MiB, more than 64 MiB: name fewer/,
  );
  const few = anInstallation({ targetNamespaces: targetNamespaces.slice(0, 10), configured: true });
  expect(messageOf(roomForRoles(bundle, few))).toBeUndefined();
  expect(messageOf(roomForRoles(bundle, anInstallation()))).toBeUndefined();
});

it('counts Roles without rules as well', () => {
  const many = Array.from({ length: 40_000 }, (_, index) => ({
    serviceAccountName: `a${index}`,
    rules: undefined,
  }));
  const installation = anInstallation({ targetNamespaces: ['a', 'b'], configured: true });
  expect(
    messageOf(roomForRoles(aRegistryBundle({ csv: aCsv({ permissions: many }) }), installation)),
  ).toContain('Roles for 40000 permissions in 3 namespaces');
});
