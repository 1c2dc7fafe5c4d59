import { describe, expect, it } from 'vitest';
import { problemLine } from '../../../catalog/bundle-checks/index.ts';
import { TerminalError } from '../../../core/errors.ts';
import { anArchive } from '../../../test/helpers/archives.ts';
import { aRegistryTree, aTree } from '../../../test/helpers/registry-bundle.ts';
import { installableObjects } from './installable-objects.ts';
import { renderContent } from './render-content.ts';
import { validateContent } from './validate-content.ts';

const chart = {
  'Chart.yaml': 'apiVersion: v2\nname: web\nversion: 1.0.0\n',
  'templates/a.yaml': `apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}}
data:
  color: {{ .Values.color | default "red" }}
  kube: {{ .Capabilities.KubeVersion.Version }}
  ingress: {{ .Capabilities.APIVersions.Has "networking.k8s.io/v1/Ingress" | quote }}
  monitor: {{ .Capabilities.APIVersions.Has "monitoring.coreos.com/v1" | quote }}
`,
};

describe('renderContent', () => {
  it('detects charts by their content, packed or not', async () => {
    const inFolder = Object.fromEntries(
      Object.entries(chart).map(([path, text]) => [`web/${path}`, text]),
    );
    const packed = { 'web-1.0.0.tgz': await anArchive(inFolder) };
    for (const files of [chart, inFolder, packed]) {
      expect(await renderContent(aTree(files), {})).toEqual([
        {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: 'release-name' },
          data: { color: 'red', kube: 'v1.36.0', ingress: 'true', monitor: 'false' },
        },
      ]);
    }
  });

  it('renders them as they are asked for', async () => {
    const [object] = await renderContent(aTree(chart), {
      className: 'helm',
      installNamespace: 'shop',
      chart: {
        releaseName: 'mine',
        values: 'color: blue',
        kubeVersion: 'v1.30.1',
        apiVersions: ['monitoring.coreos.com/v1'],
      },
    });
    expect(object).toMatchObject({
      metadata: { name: 'mine', namespace: 'shop' },
      data: { color: 'blue', kube: 'v1.30.1', monitor: 'true' },
    });
  });

  it('renders other content than charts as before', async () => {
    expect((await renderContent(aRegistryTree(), {}))[0]?.kind).toBe('Namespace');
  });
});

describe('installableObjects', () => {
  const slip = aTree({
    ...chart,
    'templates/b.yaml': 'apiVersion: apps/v1\nkind: Deplyment\nmetadata: {name: b}\n',
  });

  it('refuses objects of a chart that the API server does not know, as validate does', async () => {
    const { installable, problems } = await validateContent(slip);
    expect(installable).toBe(false);
    const message = problems.map(problemLine).join('\n');
    expect(message).toContain('error: apps/v1 has no kind "Deplyment" in Kubernetes 1.36; write "');
    await expect(installableObjects(slip, {})).rejects.toThrow(new TerminalError(message));
    const older = { chart: { kubeVersion: 'v1.30.1' } };
    expect(await installableObjects(slip, older)).toHaveLength(2);
    expect(await installableObjects(aTree(chart), {})).toHaveLength(1);
  });
});

describe('validateContent', () => {
  it('takes a chart with its own values', async () => {
    const found = { class: 'core-rukpak-io-helm', installable: true, objects: 1, problems: [] };
    expect(await validateContent(aTree(chart))).toEqual(found);
  });

  it('knows charts that are none from those that want values', async () => {
    const library = aTree({ ...chart, 'Chart.yaml': `${chart['Chart.yaml']}type: library\n` });
    const { problems } = await validateContent(library);
    expect(problems).toMatchObject([
      { severity: 'error', message: expect.stringContaining('library charts are not installable') },
    ]);
    const wanting = aTree({
      ...chart,
      'templates/b.yaml': '{{ required "say a port" .Values.port }}',
    });
    expect((await validateContent(wanting)).problems).toMatchObject([
      { severity: 'warning', message: expect.stringContaining('say a port') },
    ]);
    const config = { vaules: { port: 1 } };
    expect((await validateContent(wanting, { config })).problems).toMatchObject([
      { severity: 'error', fix: 'correct the file of --config' },
    ]);
  });

  it('leaves other classes to their rules', async () => {
    expect(await validateContent(aRegistryTree())).toMatchObject({
      class: 'core-rukpak-io-registry',
    });
  });
});
