import { describe, expect, it } from 'vitest';
import {
  aBundle,
  anEntry,
  aPackage,
  aRequest,
  contentsOf,
  nothingAround,
} from '../../test/helpers/package-contents.ts';
import type { PackageContent } from '../candidates/index.ts';
import { explanationText } from '../explain/index.ts';
import { explainPackage, type PackageRequest, resolvePackage } from './index.ts';

const content = aPackage({
  bundles: ['0.9.0', '1.0.0', '1.1.0', '1.2.0', '2.0.0', '2.1.0-rc.1'],
  channels: {
    stable: [
      '1.0.0',
      anEntry('p', '1.1.0', { replaces: '1.0.0' }),
      anEntry('p', '1.2.0', { replaces: '1.1.0' }),
    ],
    beta: [anEntry('p', '1.2.0'), anEntry('p', '2.0.0', { replaces: '1.2.0' })],
  },
});
const oldOne = { by: 'name', name: 'p.v1.0.0', version: '1.0.0' } as const;
const asExtension = { profile: 'extension', upgrades: 'graph' } as const;

function explain(wish: Partial<PackageRequest>) {
  return explainPackage(aRequest(wish), contentsOf(content), nothingAround);
}

describe('an explanation', () => {
  it('of a failure says what was asked, why, what was considered, and what would help', () => {
    expect(explanationText(explain({ version: '2.x', channels: ['stable'] }))).toBe(
      `Asked: package "p" in version range "2.x" in channel "stable"
Answer: no package "p" matching version "2.x" found in channel "stable"

Because:
  - Package "p" has 6 bundles in "a".
  - The requested channels leave 3 bundles.
  - The version range leaves 0 bundles.

Considered:
  - not in channel "stable": 2.0.0 (a)
  - outside version range "2.x": 1.2.0 (a), 1.1.0 (a), 1.0.0 (a)
  - not in channel "stable" and a prerelease outside version range "2.x": 2.1.0-rc.1 (a)
  - not in channel "stable" and outside version range "2.x": 0.9.0 (a)

What would help:
  - Allow 1.x: catalog "a" has 1.2.0.
  - Add channel "beta", which has 2.0.0.
`,
    );
  });

  it('is the same value in a failed resolution, and JSON', () => {
    const request = aRequest({ version: '9.x' });
    const resolution = resolvePackage(request, contentsOf(content), nothingAround);
    const explanation = explain({ version: '9.x' });
    expect(resolution).toMatchObject({ kind: 'failed', explanation });
    expect(JSON.parse(JSON.stringify(explanation))).toEqual(explanation);
  });

  it('of a resolved request says why other bundles were passed over', () => {
    const { message, considered, suggestions } = explain({ ...asExtension, installed: oldOne });
    expect(message).toBe('resolved to "registry/p:v1.1.0"');
    expect(considered.map(({ reason }) => reason)).toEqual([
      'lower than 1.1.0',
      'not a direct upgrade from "p.v1.0.0"',
      'a downgrade from 1.0.0',
    ]);
    expect(suggestions).toEqual([]);
  });

  it.each<[Partial<PackageRequest>, string]>([
    [{ packageName: 'q' }, 'Check the package name "q".'],
    [{ version: '1.2.3.4' }, 'Write a version range such as "1.2.x", "~1.12" or ">=1.11, <1.13".'],
    [{ version: '3.x' }, 'Allow 2.x: catalog "a" has 2.0.0.'],
    [{ version: '0.9.0', channels: ['stable'] }, 'Remove the channel: p.v0.9.0 is in none.'],
    [
      { ...asExtension, installed: oldOne, version: '2.0.0' },
      'Upgrade to 1.1.0 first: 2.0.0 is 3 upgrades away.',
    ],
    [
      { ...asExtension, installed: oldOne, version: '0.9.0' },
      'Set upgradeConstraintPolicy to SelfCertified to install 0.9.0 without a path of upgrades.',
    ],
    [
      { installed: { by: 'image', image: 'registry/p:v1.0.0', deployment: 'd' }, version: '2' },
      'Set upgradeConstraintPolicy to Ignore to install 2.0.0 without a path of upgrades.',
    ],
    [
      { installed: { by: 'image', image: 'gone', deployment: 'd' } },
      'Make a catalog available that has image "gone".',
    ],
  ])('of %j suggests: %s', (wish, suggestion) => {
    expect(explain(wish).suggestions).toContain(suggestion);
  });

  it('leads by the versions of a channel that it suggests', () => {
    const packages = aPackage({ bundles: ['1.0.0', '1.1.0', '2.0.0'] });
    const request = { ...asExtension, installed: oldOne, version: '2.0.0', channels: ['x'] };
    const { suggestions } = explainPackage(aRequest(request), contentsOf(packages), nothingAround);
    expect(suggestions).toContain(
      'Add channel "stable", which has 2.0.0 and upgrade to 1.1.0 first: 2.0.0 is 2 upgrades away.',
    );
  });

  it('does not send a request by a version that its channel does not have', () => {
    const packages = aPackage({
      bundles: ['1.0.0', '1.1.0', '2.0.0'],
      channels: {
        stable: ['1.0.0', anEntry('p', '2.0.0', { replaces: '1.1.0' })],
        fast: [anEntry('p', '1.1.0', { replaces: '1.0.0' })],
      },
    });
    const suggestions = (channels: readonly string[]) => {
      const request = { ...asExtension, installed: oldOne, version: '2.0.0', channels };
      return explainPackage(aRequest(request), contentsOf(packages), nothingAround).suggestions;
    };
    expect(suggestions(['stable'])).toEqual([
      'Allow 1.x: catalog "a" has 1.0.0.',
      'Set upgradeConstraintPolicy to SelfCertified to install 2.0.0 without a path of upgrades.',
    ]);
    const through = 'Upgrade to 1.1.0 first: 2.0.0 is 2 upgrades away.';
    expect(suggestions(['stable', 'fast'])).toContain(through);
    expect(suggestions([])).toContain(through);
    expect(suggestions(['x'])).toContain(
      'Add channel "stable", which has 2.0.0 and set upgradeConstraintPolicy to SelfCertified to install 2.0.0 without a path of upgrades.',
    );
  });

  it('names catalogs without content', () => {
    const unavailable = [{ name: 'y', reason: 'it is not unpacked' }];
    const around = { present: [], unavailable };
    const { suggestions } = explainPackage(aRequest(), contentsOf(), around);
    expect(suggestions).toContain('Repair catalog "y", which has no content: it is not unpacked.');
  });
});

describe('the newest bundle', () => {
  it.each<[Partial<PackageRequest>, string | undefined]>([
    [{}, undefined],
    [{ version: '1.x' }, 'Version 2.1.0-rc.1 is a prerelease outside version range "1.x".'],
    [{ channels: ['beta', 'x'] }, 'Version 2.1.0-rc.1 is in none of the channels "beta", "x".'],
    [
      { ...asExtension, installed: oldOne },
      'Version 2.1.0-rc.1 is not a direct upgrade from "p.v1.0.0".',
    ],
  ])('of %j: %s', (wish, notTaken) => {
    const { newest } = resolvePackage(aRequest(wish), contentsOf(content), nothingAround);
    expect(newest?.notTaken).toBe(notTaken);
    expect(newest?.bundle.name).toBe('p.v2.1.0-rc.1');
  });

  it('is a prerelease where upgrades lead to releases only', () => {
    const packages = aPackage({ bundles: ['1.2.0', '1.3.0-rc.1'] });
    const installed = { by: 'image', image: 'registry/p:v1.2.0', deployment: 'd' } as const;
    const { newest } = resolvePackage(aRequest({ installed }), contentsOf(packages), nothingAround);
    expect(newest?.notTaken).toBe(
      'Version 1.3.0-rc.1 is a prerelease, and upgrades from 1.2.0 lead to releases only.',
    );
  });

  it('may be another build of the chosen version', () => {
    const packages = aPackage({ bundles: ['1.2.0+1', '1.2.0+2'] });
    const { newest } = resolvePackage(aRequest(), contentsOf(packages), nothingAround);
    expect(newest?.notTaken).toBe(
      'Version 1.2.0+2 is the same version as 1.2.0+1: build metadata does not count.',
    );
  });

  it('may require what cannot be installed', () => {
    const requires = {
      type: 'olm.package.required',
      value: { packageName: 'd', versionRange: '>=2.0.0' },
    };
    const conflict = { ...requires, value: { packageName: 'd', versionRange: '<2.0.0' } };
    const packages = [
      aPackage({ bundles: ['1.0.0', aBundle('p', '2.0.0', { properties: [requires, conflict] })] }),
      aPackage({ name: 'd', bundles: ['1.0.0', '2.0.0'] }),
    ];
    const { newest } = resolvePackage(aRequest(), contentsOf(...packages), nothingAround);
    expect(newest?.notTaken).toBe(
      'Version 2.0.0 is not installable with the packages that it requires: "d" in version range ">=2.0.0", "d" in version range "<2.0.0".',
    );
  });

  it('is passed over if it is deprecated, or its catalog has a lower priority', () => {
    const deprecations = [{ schema: 'olm.bundle', name: 'p.v2.0.0', message: '' }] as const;
    const old = aPackage({ bundles: ['1.0.0', '2.0.0'], deprecations });
    const other = aPackage({ catalog: 'b', priority: -1, bundles: ['3.0.0'] });
    const newest = (...packages: readonly PackageContent[]) =>
      resolvePackage(aRequest(asExtension), contentsOf(...packages), nothingAround).newest;
    expect(newest(old)?.notTaken).toBe('Version 2.0.0 is deprecated.');
    expect(newest(aPackage({ bundles: ['1.0.0'] }), other)?.notTaken).toBe(
      'Version 3.0.0 is in catalog "b", and catalog "a" has a higher priority.',
    );
  });
});
