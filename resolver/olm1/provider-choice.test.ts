import { expect, it } from 'vitest';
import { aBundle, aPackage, contentsOf } from '../../test/helpers/package-contents.ts';
import { Budget } from '../budget.ts';
import type { PackageContent, Property } from '../candidates/index.ts';
import { chooseProvider, meetsDemands, type ProviderRequest } from './index.ts';

const gvk = { group: 'd.io', version: 'v1', kind: 'D' };
const provides = { properties: [{ type: 'olm.gvk', value: gvk }] };
const inRange = (versionRange: string): Property => ({
  type: 'olm.package.required',
  value: { packageName: 'd', versionRange },
});

function choice(
  packages: readonly PackageContent[],
  demands: readonly Property[],
  installed?: string,
) {
  const request: ProviderRequest['request'] = {
    profile: 'operator',
    packageName: 'd',
    channels: [],
    upgrades: 'semver',
    ...(installed && {
      installed: { by: 'image', image: `registry/d:v${installed}`, deployment: 'd' },
    }),
  };
  const answer = chooseProvider({ request, demands }, contentsOf(...packages));
  return answer.kind === 'chosen' ? answer.version : answer.message;
}

const d = (...bundles: Parameters<typeof aPackage>[0]['bundles']) =>
  aPackage({ name: 'd', bundles });

it('the highest version that meets all demands', () => {
  const versions = d('1.0.0', '1.5.0', '2.0.0');
  expect(choice([versions], [inRange('>=1.0.0')])).toBe('2.0.0');
  expect(choice([versions], [inRange('>=1.0.0'), inRange('<2.0.0')])).toBe('1.5.0');
  expect(choice([versions], [inRange('>=3.0.0')])).toBe(
    'No version of package "d" in catalog "a" meets it.',
  );
  expect(choice([], [inRange('>=3.0.0')])).toBe('No catalog has package "d".');
});

it('ranges are those of OLM: prereleases are versions like others', () => {
  expect(choice([d('1.0.0', '2.0.0-rc.1')], [inRange('<2.0.0')])).toBe('2.0.0-rc.1');
});

it('a version that provides the API, though a higher one does not', () => {
  const versions = d(aBundle('d', '1.0.0', provides), '1.1.0');
  expect(choice([versions], [{ type: 'olm.gvk.required', value: gvk }])).toBe('1.0.0');
});

it('a version of the default channel, and of others only if it has none', () => {
  const channels = { stable: ['1.0.0'], candidate: ['1.0.0', '1.1.0'] };
  const versions = aPackage({ name: 'd', bundles: ['1.0.0', '1.1.0'], channels });
  expect(choice([versions], [inRange('>=1.0.0')])).toBe('1.0.0');
  expect(choice([versions], [inRange('>1.0.0')])).toBe('1.1.0');
});

it('an allowed upgrade of what is installed, or what is wrong', () => {
  const versions = d('1.0.0', '1.5.0', '2.0.0');
  expect(choice([versions], [inRange('>=1.0.0')], '1.0.0')).toBe('1.5.0');
  expect(choice([versions], [inRange('>=2.0.0')], '1.0.0')).toContain(
    'Upgrades from the installed 1.0.0 leave 0 bundles.',
  );
});

it('one of hundreds of versions', () => {
  const versions = Array.from({ length: 400 }, (_, at) => `1.${at}.0`);
  const request = {
    profile: 'operator',
    packageName: 'd',
    channels: [],
    upgrades: 'semver',
  } as const;
  const budget = new Budget({ steps: 500_000 });
  const asked = { request, demands: [inRange('>=1.0.0')] };
  expect(chooseProvider(asked, contentsOf(d(...versions)), budget)).toMatchObject({
    version: '1.399.0',
  });
});

it('equal whatever the order of catalogs', () => {
  const packages = [d('1.0.0', '2.0.0'), aPackage({ name: 'd', catalog: 'b', bundles: ['1.5.0'] })];
  for (const order of [packages, packages.toReversed()]) {
    expect(choice(order, [inRange('<2.0.0')])).toBe('1.5.0');
  }
});

it('a bundle meets demands, and none that cannot be read', () => {
  const bundle = { packageName: 'd', ...aBundle('d', '1.0.0', provides) };
  expect(meetsDemands(bundle, [inRange('1.x'), inRange('>=1.0.0')])).toBe(true);
  expect(meetsDemands(bundle, [inRange('1.x'), inRange('>=2.0.0')])).toBe(false);
  expect(meetsDemands(bundle, [inRange('^1')])).toBe(false);
});
