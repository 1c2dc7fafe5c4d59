import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadDirectory, toConfig } from '../../catalog/load/index.ts';
import type { Bundle, PackageContent } from '../../resolver/candidates/index.ts';
import { pathTo } from '../../resolver/explain/index.ts';
import { type PackageRequest, resolvePackage } from '../../resolver/olm1/index.ts';
import {
  compareVersions,
  parseVersion,
  type Version,
  versionText,
} from '../../resolver/versions/index.ts';
import { aRequest, contentsOf, nothingAround } from '../helpers/package-contents.ts';

const packages = join(import.meta.dirname, '../../../shared/catalogs/packages');

test('each published package is resolved, and upgraded to the head of its default channel', async () => {
  // Published with a bundle that has no schema.
  const names = (await readdir(packages)).filter((name) => name !== 'slurm-operator');
  for (const name of names) {
    const content = await read(name);
    const own = new Set(channel(content).entries.map((entry) => entry.name));
    const bundles = content.bundles.filter((bundle) => own.has(bundle.name)).toSorted(byVersion);
    const highest = bundles.at(-1);
    expect(chosen(content, { profile: 'extension' })?.name, name).toBe(highest?.name);
    // It requires packages of other catalogs.
    const isComplete = name !== 'rabbitmq-messaging-topology-operator';
    expect(chosen(content, {})?.name, name).toBe(isComplete ? highest?.name : undefined);
    const [lowest] = bundles;
    expect(lastUpgrade(content, lowest), `upgrades of ${name}`).toBe(highest?.name);
    expect(pathKind(content, lowest, highest), `path of ${name}`).toBe('path');
  }
});

async function read(name: string): Promise<PackageContent> {
  const config = await toConfig(loadDirectory(join(packages, name)));
  return {
    catalog: { name: 'published', namespace: '', priority: 0 },
    name: config.packages[0]?.name ?? '',
    defaultChannel: config.packages[0]?.defaultChannel ?? '',
    channels: config.channels,
    bundles: config.bundles.map(({ name: bundle, image, properties }) => {
      const all = properties.map(({ type, value }) => ({ type, value: value ?? null }));
      return { name: bundle, image, version: versionIn(all), properties: all };
    }),
    deprecations: [],
  };
}

function versionIn(properties: Bundle['properties']): Version | undefined {
  const own = properties.find(({ type }) => type === 'olm.package')?.value as
    | { readonly version: string }
    | undefined;
  return own && parseVersion(own.version);
}

function channel({ channels, defaultChannel }: PackageContent): PackageContent['channels'][number] {
  const found = channels.find(({ name }) => name === defaultChannel);
  if (found === undefined) throw new Error(`no channel ${defaultChannel}`);
  return found;
}

function byVersion(a: Bundle, b: Bundle): number {
  if (a.version === undefined || b.version === undefined) throw new Error('a version is missing');
  return compareVersions(a.version, b.version);
}

function chosen(content: PackageContent, wish: Partial<PackageRequest>): Bundle | undefined {
  const { name: packageName, defaultChannel } = content;
  const request = aRequest({ packageName, channels: [defaultChannel], upgrades: 'graph', ...wish });
  const resolution = resolvePackage(request, contentsOf(content), nothingAround);
  return resolution.kind === 'resolved' ? resolution.bundle : undefined;
}

/** The name of the bundle after which there is no upgrade. */
function lastUpgrade(content: PackageContent, from: Bundle | undefined): string | undefined {
  let at = from;
  for (let step = 0; step <= content.bundles.length; step += 1) {
    if (at?.version === undefined) return undefined;
    const { name, version } = at;
    const installed = { by: 'name', name, version: versionText(version) } as const;
    const next = chosen(content, { profile: 'extension', installed });
    if (next?.name === name) return name;
    at = next;
  }
  return undefined;
}

function pathKind(
  content: PackageContent,
  from: Bundle | undefined,
  to: Bundle | undefined,
): string | undefined {
  if (from === undefined || to?.version === undefined) return undefined;
  const contents = [{ ...content, channels: [channel(content)] }];
  const request = { packageName: content.name, contents, from, upgrades: 'graph' } as const;
  return pathTo({ ...request, to: versionText(to.version) }).kind;
}
