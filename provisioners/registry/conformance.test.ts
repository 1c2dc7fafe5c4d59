import { testOfClass } from '../../test/helpers/test-of-class.ts';
import { describeProvisioner } from '../../testing/index.ts';
import registry from './index.ts';

const annotations = 'annotations:\n  operators.operatorframework.io.bundle.package.v1: colours\n';

function aCsv(allNamespaces: string): string {
  return [
    'apiVersion: operators.coreos.com/v1alpha1',
    'kind: ClusterServiceVersion',
    'metadata: {name: colours.v1.0.0}',
    'spec:',
    '  installModes:',
    `    - {type: AllNamespaces, supported: ${allNamespaces}}`,
    '    - {type: SingleNamespace, supported: true}',
    '  install:',
    '    strategy: deployment',
    '    spec:',
    '      permissions:',
    '        - serviceAccountName: painter',
    '          rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]',
    '      deployments:',
    '        - name: painter',
    '          spec:',
    '            selector: {matchLabels: {app: painter}}',
    '            template:',
    '              metadata: {labels: {app: painter}}',
    '              spec:',
    '                serviceAccountName: painter',
    '                containers: [{name: main, image: registry.example/painter:v1}]',
    '',
  ].join('\n');
}

const crd = [
  'apiVersion: apiextensions.k8s.io/v1',
  'kind: CustomResourceDefinition',
  'metadata: {name: colours.example.com}',
  'spec: {group: example.com, names: {kind: Colour, plural: colours}, scope: Cluster}',
  '',
].join('\n');

describeProvisioner(
  registry,
  {
    bundles: [
      {
        name: 'an operator with permissions and a CRD',
        files: {
          'metadata/annotations.yaml': annotations,
          'manifests/csv.yaml': aCsv('true'),
          'manifests/crd.yaml': crd,
        },
      },
    ],
    configured: [
      {
        name: 'an operator for all namespaces, without a config',
        files: { 'metadata/annotations.yaml': annotations, 'manifests/csv.yaml': aCsv('true') },
      },
      {
        name: 'an operator for one namespace',
        files: { 'metadata/annotations.yaml': annotations, 'manifests/csv.yaml': aCsv('false') },
        config: { watchNamespace: 'paint' },
      },
      {
        name: 'an operator in a namespace that is there, with proxies and overrides',
        files: { 'metadata/annotations.yaml': annotations, 'manifests/csv.yaml': aCsv('false') },
        config: {
          installNamespace: 'paint',
          watchNamespace: 'walls',
          env: [{ name: 'COLOUR', value: 'red' }],
          nodeSelector: { disk: 'fast' },
        },
        cluster: { proxy: { httpsProxy: 'http://proxy.example:3128' } },
      },
    ],
    refused: [
      {
        name: 'no annotations',
        files: { 'manifests/csv.yaml': aCsv('true') },
        message:
          'convert registry+v1 bundle to plain+v0 bundle: readfile metadata/annotations.yaml: file does not exist',
      },
      {
        name: 'an operator that cannot watch all namespaces',
        files: { 'metadata/annotations.yaml': annotations, 'manifests/csv.yaml': aCsv('false') },
        message:
          'convert registry+v1 bundle to plain+v0 bundle: AllNamespace install mode must be enabled',
      },
      {
        name: 'namespaces that the operator cannot watch',
        files: { 'metadata/annotations.yaml': annotations, 'manifests/csv.yaml': aCsv('false') },
        config: { watchNamespaces: ['paint', 'walls'] },
        message:
          /^convert registry\+v1 bundle to plain\+v0 bundle: supported install modes \[.*\] do not support target namespaces \[paint walls\]: write spec\.config\./,
      },
      {
        name: 'a slip in its config',
        files: { 'metadata/annotations.yaml': annotations, 'manifests/csv.yaml': aCsv('true') },
        config: { watchNamespce: 'paint' },
        message:
          'parse deployment config: spec.config.watchNamespce is not known: did you mean watchNamespace?',
      },
    ],
  },
  { test: testOfClass, module: new URL('./index.ts', import.meta.url) },
);
