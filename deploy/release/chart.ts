import { posix } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { stringify } from 'yaml';
import { z } from 'zod';
import type { KubernetesObject } from '../../api/meta.ts';
import { moveToNamespace } from '../move-to-namespace.ts';
import { tarArchive } from './tar-archive.ts';

export interface ChartContent {
  readonly version: string;
  /** The image in the pods. */
  readonly image: string;
  /** The objects that kubectl would apply, in the order of an installation. */
  readonly objects: readonly KubernetesObject[];
}

/** By path in the chart. */
export type ChartFiles = ReadonlyMap<string, string>;

const chartName = 'rukpak';
const releaseNamespace = '{{ .Release.Namespace }}';
const systemNamespace = 'rukpak-system';
const placeholder = '__namespace__';

/** By Deployment, its part of the values. */
const parts: Readonly<Record<string, string>> = {
  core: 'core',
  'rukpak-webhooks': 'webhooks',
  'crd-validation-webhook': 'crdvalidator',
};

const deploymentSchema = z.looseObject({
  spec: z.looseObject({
    replicas: z.int(),
    template: z.looseObject({
      spec: z.looseObject({
        containers: z.tuple([
          z.looseObject({ image: z.string(), args: z.array(z.string()), resources: z.json() }),
        ]),
      }),
    }),
  }),
});
type Deployment = z.infer<typeof deploymentSchema>;

/**
 * A chart that installs the same objects, with values for the fields in which installations differ.
 */
export function chartFiles({ version, image, objects }: ChartContent): ChartFiles {
  const shipped = objects.filter(
    // Helm creates the namespace of a release, or it exists.
    ({ kind, metadata }) => !(kind === 'Namespace' && metadata.name === systemNamespace),
  );
  const deployments = deploymentsOf(shipped);
  const definitions = shipped.filter(({ kind }) => kind === 'CustomResourceDefinition');
  const rest = shipped.filter((each) => !deployments.includes(each) && !definitions.includes(each));
  const files = new Map([
    ['Chart.yaml', chartYaml(version)],
    ['values.yaml', valuesYaml(image, deployments)],
    ['values.schema.json', `${JSON.stringify(valuesSchema, undefined, 2)}\n`],
    ['templates/NOTES.txt', notes],
    ['templates/crds.yaml', templates(definitions.map(keptByHelm))],
    ['templates/system.yaml', templates(rest)],
  ]);
  for (const deployment of deployments) {
    const part = partOf(deployment);
    files.set(`templates/${part}.yaml`, deploymentTemplate(deployment, part));
  }
  return files;
}

/** In the order of the values. */
function deploymentsOf(objects: readonly KubernetesObject[]): readonly KubernetesObject[] {
  const found = objects.filter(({ kind }) => kind === 'Deployment');
  const order = Object.values(parts);
  return found.toSorted((a, b) => order.indexOf(partOf(a)) - order.indexOf(partOf(b)));
}

/** The archive for `helm install`; equal files make equal bytes. */
export async function chartArchive(files: ChartFiles): Promise<Uint8Array> {
  const entries = [...files].map(([path, content]) => ({
    name: posix.join(chartName, path),
    content,
  }));
  return await promisify(gzip)(tarArchive(entries));
}

function partOf({ metadata }: KubernetesObject): string {
  const part = parts[metadata.name ?? ''];
  if (part === undefined) throw new Error(`the chart has no values for ${metadata.name}`);
  return part;
}

function chartYaml(version: string): string {
  return yamlOf({
    apiVersion: 'v2',
    name: chartName,
    description: 'Bundle provisioner framework for Kubernetes (core.rukpak.io/v1alpha1)',
    type: 'application',
    version,
    appVersion: version,
    kubeVersion: '>=1.30.0-0',
  });
}

const valueTexts: Readonly<Record<string, string>> = {
  core: 'Reconcilers and content server; one of the replicas leads.',
  webhooks: 'Admission of Bundles, BundleDeployments and ConfigMaps.',
  crdvalidator: 'Admission of CRDs that BundleDeployments install.',
};

function valuesYaml(image: string, deployments: readonly KubernetesObject[]): string {
  const head = `# Image of all pods.\n${yamlOf({ image })}# Names of Secrets of the pods' namespaces, as [{name: my-registry}].\nimagePullSecrets: []\n`;
  const rest = deployments.map((deployment) => {
    const part = partOf(deployment);
    const { replicas, template } = deploymentSchema.parse(deployment).spec;
    const { resources } = template.spec.containers[0];
    const values = { replicas, args: [], resources, nodeSelector: {}, tolerations: [] };
    const text = yamlOf({ [part]: values });
    return `# ${valueTexts[part]}\n${text.replace('  args:', '  # Flags after those that the chart sets.\n  args:')}`;
  });
  return head + rest.join('');
}

const partSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    replicas: { type: 'integer', minimum: 0 },
    args: { type: 'array', items: { type: 'string', pattern: '^--' } },
    resources: { type: 'object' },
    nodeSelector: { type: 'object' },
    tolerations: { type: 'array', items: { type: 'object' } },
  },
};

const valuesSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    global: { type: 'object' },
    image: { type: 'string', minLength: 1 },
    imagePullSecrets: { type: 'array', items: { type: 'object' } },
    ...Object.fromEntries(Object.values(parts).map((part) => [part, partSchema])),
  },
};

const notes = `rukpak-ts {{ .Chart.AppVersion }} is being installed in namespace {{ .Release.Namespace }}.

  kubectl --namespace {{ .Release.Namespace }} rollout status deployment/core deployment/rukpak-webhooks
  kubectl --namespace crdvalidator-system rollout status deployment/crd-validation-webhook

"helm uninstall" keeps the CRDs, all BundleDeployments and all that they have installed.
`;

/** Deleting the CRDs would delete all Bundles and BundleDeployments of a cluster. */
function keptByHelm(definition: KubernetesObject): KubernetesObject {
  const { metadata } = definition;
  const annotations = { ...metadata.annotations, 'helm.sh/resource-policy': 'keep' };
  return { ...definition, metadata: { ...metadata, annotations } };
}

function deploymentTemplate(object: KubernetesObject, part: string): string {
  deploymentSchema.parse(object);
  const deployment = structuredClone(object) as unknown as Deployment;
  const { spec } = deployment.spec.template;
  const [container] = spec.containers;
  container.image = '__image__';
  container.args.push('__args__');
  container.resources = '__resources__';
  const marked = {
    ...deployment,
    spec: {
      ...deployment.spec,
      replicas: '__replicas__',
      template: { ...deployment.spec.template, spec: { ...spec, __pod__: '__pod__' } },
    },
  };
  return templates([marked as unknown as KubernetesObject])
    .replace('__image__', '{{ .Values.image | quote }}')
    .replace('__replicas__', `{{ .Values.${part}.replicas }}`)
    .replace(
      /^( +)- __args__$/m,
      `$1{{- range .Values.${part}.args }}\n$1- {{ . | quote }}\n$1{{- end }}`,
    )
    .replace(/^( +)resources: __resources__$/m, (_line, indent: string) =>
      block(indent, 'resources', `.Values.${part}.resources`),
    )
    .replace(/^( +)__pod__: __pod__$/m, (_line, indent: string) =>
      [
        block(indent, 'imagePullSecrets', '.Values.imagePullSecrets'),
        block(indent, 'nodeSelector', `.Values.${part}.nodeSelector`),
        block(indent, 'tolerations', `.Values.${part}.tolerations`),
      ].join('\n'),
    );
}

/** A field that is omitted when its value is empty. */
function block(indent: string, field: string, value: string): string {
  const { length } = indent;
  return `${indent}{{- with ${value} }}\n${indent}${field}: {{- toYaml . | nindent ${length + 2} }}\n${indent}{{- end }}`;
}

function templates(objects: readonly KubernetesObject[]): string {
  return objects.map((object) => `---\n${template(object)}`).join('');
}

function template(object: KubernetesObject): string {
  const text = yamlOf(moveToNamespace(object, placeholder));
  // Braces in the objects themselves are not templates.
  const literal = text.replaceAll('{{', '{{ "{{" }}');
  return literal
    .replaceAll(`.${systemNamespace}.svc`, `.${releaseNamespace}.svc`)
    .replaceAll(placeholder, `"${releaseNamespace}"`);
}

function yamlOf(value: object): string {
  return stringify(value, { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false });
}
