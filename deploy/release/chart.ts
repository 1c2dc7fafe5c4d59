import { posix } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { KubernetesObject } from '../../api/meta.ts';
import { oldestMinor } from '../../core/platform/kube/index.ts';
import { moveToNamespace } from '../move-to-namespace.ts';
import {
  type Deployment,
  deploymentSchema,
  operatorsPart,
  partOf,
  parts,
  valuesSchema,
  valuesYaml,
  yamlOf,
} from './chart-values.ts';
import { tarArchive } from './tar-archive.ts';

export interface ChartContent {
  readonly version: string;
  /** The image in the pods. */
  readonly image: string;
  /** The objects that kubectl would apply, in the order of an installation. */
  readonly objects: readonly KubernetesObject[];
  /** The same with OLM 1.0, which a value turns on. */
  readonly withOperators: readonly KubernetesObject[];
  /** The same with what --install-dependencies needs, which another value turns on. */
  readonly withDependencies: readonly KubernetesObject[];
}

/** By path in the chart. */
export type ChartFiles = ReadonlyMap<string, string>;

const chartName = 'rukpak';
const releaseNamespace = '{{ .Release.Namespace }}';
const systemNamespace = 'rukpak-system';
const placeholder = '__namespace__';

/**
 * A chart that installs the same objects, with values for the fields in which installations differ.
 */
export function chartFiles(content: ChartContent): ChartFiles {
  const { version, image, objects, withOperators, withDependencies } = content;
  const shipped = objects.filter(
    // Helm creates the namespace of a release, or it exists.
    ({ kind, metadata }) => !(kind === 'Namespace' && metadata.name === systemNamespace),
  );
  const added = addedTo(objects, withOperators);
  const deployments = deploymentsOf([...shipped, ...added]);
  const files = new Map([
    ['Chart.yaml', chartYaml(version)],
    ['values.yaml', valuesYaml(image, deployments)],
    ['values.schema.json', `${JSON.stringify(valuesSchema, undefined, 2)}\n`],
    ['templates/NOTES.txt', notes],
    ['templates/crds.yaml', templates(shipped.filter(isDefinition).map(keptByHelm))],
    ['templates/system.yaml', templates(shipped.filter(isNeither))],
  ]);
  const ofOperators = argsAdded(objects, withOperators);
  for (const deployment of deploymentsOf(shipped)) {
    const args = { value: 'enabled', args: argsFor(deployment, ofOperators) } as const;
    files.set(`templates/${partOf(deployment)}.yaml`, deploymentTemplate(deployment, args));
  }
  const ofDependencies = argsAdded(withOperators, withDependencies);
  const optional = [
    templates(added.filter(isDefinition).map(keptByHelm)),
    templates(added.filter(isNeither)),
    when('installDependencies', templates(addedTo(withOperators, withDependencies))),
    ...deploymentsOf(added).map((deployment) => {
      const args = argsFor(deployment, ofDependencies);
      return deploymentTemplate(deployment, { value: 'installDependencies', args });
    }),
  ];
  files.set(`templates/${operatorsPart}.yaml`, when('enabled', optional.join('')));
  return files;
}

/** Values of operators that turn parts of the chart on. */
type Switch = 'enabled' | 'installDependencies';

function when(value: Switch, text: string): string {
  return `{{- if .Values.${operatorsPart}.${value} }}\n${text}{{- end }}\n`;
}

function addedTo(
  before: readonly KubernetesObject[],
  after: readonly KubernetesObject[],
): readonly KubernetesObject[] {
  const known = new Set(before.map(identityOf));
  return after.filter((object) => !known.has(identityOf(object)));
}

function identityOf({ kind, metadata: { namespace = '', name } }: KubernetesObject): string {
  return `${kind} ${namespace}/${name}`;
}

function isDefinition({ kind }: KubernetesObject): boolean {
  return kind === 'CustomResourceDefinition';
}

function isNeither(object: KubernetesObject): boolean {
  return !isDefinition(object) && object.kind !== 'Deployment';
}

/** By name of a Deployment, the arguments that it has only in the second list. */
function argsAdded(
  before: readonly KubernetesObject[],
  after: readonly KubernetesObject[],
): ReadonlyMap<string, readonly string[]> {
  const known = new Map(
    before.filter(isDeployment).map((each) => [each.metadata.name, argsOf(each)]),
  );
  return new Map(
    after.filter(isDeployment).map((each) => {
      const former = known.get(each.metadata.name) ?? argsOf(each);
      return [each.metadata.name ?? '', argsOf(each).filter((arg) => !former.includes(arg))];
    }),
  );
}

function argsFor(
  { metadata }: KubernetesObject,
  added: ReadonlyMap<string, readonly string[]>,
): readonly string[] {
  return added.get(metadata.name ?? '') ?? [];
}

function isDeployment({ kind }: KubernetesObject): boolean {
  return kind === 'Deployment';
}

function argsOf(deployment: KubernetesObject): readonly string[] {
  return deploymentSchema.parse(deployment).spec.template.spec.containers[0].args;
}

/** In the order of the values. */
function deploymentsOf(objects: readonly KubernetesObject[]): readonly KubernetesObject[] {
  const found = objects.filter(isDeployment);
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

function chartYaml(version: string): string {
  return yamlOf({
    apiVersion: 'v2',
    name: chartName,
    description: 'Bundle provisioner framework for Kubernetes (core.rukpak.io/v1alpha1)',
    type: 'application',
    version,
    appVersion: version,
    kubeVersion: `>=1.${oldestMinor}.0-0`,
  });
}

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

/** Arguments that a Deployment has only if a value is true. */
interface OptionalArgs {
  readonly value: Switch;
  readonly args: readonly string[];
}

function deploymentTemplate(object: KubernetesObject, optional: OptionalArgs): string {
  deploymentSchema.parse(object);
  const part = partOf(object);
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
    .replace(/^( +)- __args__$/m, (_line, indent: string) =>
      [
        ...optionalArgs(indent, optional),
        `${indent}{{- range .Values.${part}.args }}\n${indent}- {{ . | quote }}\n${indent}{{- end }}`,
      ].join('\n'),
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

function optionalArgs(indent: string, { value, args }: OptionalArgs): readonly string[] {
  if (args.length === 0) return [];
  const lines = args.map((arg) =>
    `${indent}- ${JSON.stringify(arg)}`.replaceAll(
      `.${systemNamespace}.svc`,
      `.${releaseNamespace}.svc`,
    ),
  );
  return [`${indent}{{- if .Values.${operatorsPart}.${value} }}`, ...lines, `${indent}{{- end }}`];
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
