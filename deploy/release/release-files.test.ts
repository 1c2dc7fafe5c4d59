import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import type { KubernetesObject } from '../../api/meta.ts';
import { everyManifest } from '../install-manifests.ts';
import { chartArchive, chartFiles } from './chart.ts';
import { checkReplaceable, writeChecksums } from './checksums.ts';
import { type LayerFile, readArchive } from './image/layer.ts';
import { krewManifest, pluginArchive } from './krew.ts';
import { nameImage } from './manifests.ts';

const image = 'registry.example/team/rukpak:1.2.3@sha256:abc';
const overlayOnly = /^(?:core-apply|core-unpack)/;
const withDependencies = everyManifest('rukpak-system').filter(
  ({ kind, metadata }) => !(kind === 'Deployment' && overlayOnly.test(metadata.name ?? '')),
);
const dependencies = 'rukpak-operators-dependencies';
const withOperators = withDependencies.filter(({ metadata }) => metadata.name !== dependencies);
const ofOperators =
  /operatorframework\.io|^rukpak-(?:operators|catalogs)|catalogs-certificate|^catalogs$|^operators-metrics$/;
const objects = withOperators.filter(({ metadata }) => !ofOperators.test(metadata.name ?? ''));

describe('manifests', () => {
  test('name the image of the release in place of ours, and nothing else', () => {
    const manifest = 'containers:\n  - image: rukpak:0.1.0\n    args: [rukpak:0.1.0]\n';
    expect(nameImage(manifest, image)).toBe(
      `containers:\n  - image: ${image}\n    args: [rukpak:0.1.0]\n`,
    );
  });
});

describe('the chart', () => {
  const release = { version: '1.2.3', image, objects, withOperators, withDependencies };
  const files = chartFiles(release);

  test('has a template of each object but the namespace of the release', () => {
    const kinds = [...files]
      .filter(([path]) => path.endsWith('.yaml') && path.startsWith('templates/'))
      .flatMap(([, text]) => [...text.matchAll(/^kind: (\S+)$/gm)].map(([, kind = '']) => kind));
    const expected = withDependencies
      .filter(({ kind, metadata }) => kind !== 'Namespace' || metadata.name !== 'rukpak-system')
      .map(({ kind }) => kind);
    expect(kinds.toSorted()).toEqual(expected.toSorted());
  });

  test('names no system namespace, and keeps CRDs when it is uninstalled', () => {
    for (const [path, text] of files) {
      if (path.startsWith('templates/')) expect(text).not.toContain('rukpak-system');
    }
    const definitions = parseAllDocuments(files.get('templates/crds.yaml') ?? '').map(
      (each) => each.toJS() as KubernetesObject,
    );
    expect(definitions.map(({ metadata }) => metadata.annotations)).toEqual([
      expect.objectContaining({ 'helm.sh/resource-policy': 'keep' }),
      expect.objectContaining({ 'helm.sh/resource-policy': 'keep' }),
    ]);
  });

  test("has values for the fields in which installations differ, with the manifests' defaults", () => {
    expect(parse(files.get('values.yaml') ?? '')).toMatchObject({
      image,
      imagePullSecrets: [],
      core: { replicas: 2, args: [], resources: { limits: { memory: '2Gi' } } },
      webhooks: { replicas: 1, args: [] },
      crdvalidator: { replicas: 1, args: [] },
      operators: { enabled: false, installDependencies: false, replicas: 2, args: [] },
    });
  });

  test('has OLM 1.0 where its value turns it on, with the certificate that it needs', () => {
    const issue = '--issue-certificate=rukpak-catalogs-cert=rukpak-catalogs.rukpak-system.svc';
    const issuing = withOperators.map((object) => {
      if (object.kind !== 'Deployment' || object.metadata.name !== 'rukpak-webhooks') return object;
      return JSON.parse(JSON.stringify(object).replace('"args":[', `"args":["${issue}",`));
    });
    const enabled = chartFiles({ ...release, withOperators: issuing });
    const operators = enabled.get('templates/operators.yaml') ?? '';
    expect(operators).toMatch(/^\{\{- if \.Values\.operators\.enabled \}\}\n---\n/);
    expect(operators).toMatch(/\n\{\{- end \}\}\n$/);
    for (const [path, text] of enabled) {
      if (path !== 'templates/operators.yaml') expect(text).not.toContain('rukpak-operators');
    }
    expect(enabled.get('templates/webhooks.yaml')).toMatch(
      /\{\{- if \.Values\.operators\.enabled \}\}\n +- "--issue-certificate=rukpak-catalogs-cert=rukpak-catalogs\.\{\{ \.Release\.Namespace \}\}\.svc"\n +\{\{- end \}\}/,
    );
  });

  test('installs dependencies, with the permissions for it, where its value turns that on', () => {
    const flagged = withDependencies.map((object) => {
      if (object.kind !== 'Deployment' || object.metadata.name !== 'rukpak-operators')
        return object;
      return JSON.parse(JSON.stringify(object).replace('"args":[', '"args":["--flag",'));
    });
    const templates = chartFiles({ ...release, withDependencies: flagged });
    const operators = templates.get('templates/operators.yaml') ?? '';
    const opening = String.raw`\{\{- if \.Values\.operators\.installDependencies \}\}\n`;
    const [, roles] =
      new RegExp(`^${opening}([^]*?)\\{\\{- end \\}\\}$`, 'm').exec(operators) ?? [];
    expect(roles?.match(/^kind: .*$/gm)).toEqual(['kind: ClusterRole', 'kind: ClusterRoleBinding']);
    expect(roles).toContain(`name: ${dependencies}`);
    expect(operators).toMatch(
      new RegExp(String.raw`^ +${opening} +- "--flag"\n +\{\{- end \}\}$`, 'm'),
    );
  });

  test('is the same archive for the same objects', async () => {
    const [one, other] = await Promise.all([chartArchive(files), chartArchive(files)]);
    expect(Buffer.from(one).equals(other)).toBe(true);
    expect([...(await readArchive(one)).keys()]).toContain('rukpak/Chart.yaml');
  });
});

test('the plugin for krew has the digest of its archive, and its program in it', async () => {
  const program: LayerFile = { type: 'File', mode: 0o755, content: Buffer.from('#!') };
  const archive = await pluginArchive(new Map([['bin/kubectl-bundle', program]]));
  expect((await readArchive(gunzipSync(archive))).get('bin/kubectl-bundle')).toEqual(program);
  const url = 'https://downloads.example/kubectl-bundle-1.2.3.tar.gz';
  const manifest = parse(krewManifest({ version: '1.2.3', archive, url })) as {
    spec: { version: string; platforms: [{ uri: string; sha256: string; bin: string }] };
  };
  expect(manifest.spec.version).toBe('v1.2.3');
  const [{ uri, sha256, bin }] = manifest.spec.platforms;
  expect([uri, bin]).toEqual([url, 'bin/kubectl-bundle']);
  expect(sha256).toMatch(/^[0-9a-f]{64}$/);
});

describe('the folder of a release', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rukpak-release-files-'));
    await mkdir(join(folder, 'kustomize'));
    await writeFile(join(folder, 'kustomize/a.yaml'), 'a');
    await writeChecksums(folder);
  });

  afterEach(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  test('is replaced as it was made, and where there is none', async () => {
    await checkReplaceable(folder);
    await checkReplaceable(join(folder, 'none'));
  });

  test.each(['kustomize/a.yaml', 'kustomize/mine.yaml'])(
    'is not replaced while somebody has written %s',
    async (path) => {
      await writeFile(join(folder, path), 'mine');
      await expect(checkReplaceable(folder)).rejects.toThrow(
        `${join(folder, path)} is not as a release has it, and would be lost`,
      );
    },
  );
});
