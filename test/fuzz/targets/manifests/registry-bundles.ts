import { TerminalError } from '../../../../core/errors.ts';
import { convertRegistryBundle } from '../../../../provisioners/registry/convert.ts';
import type { FuzzTarget } from '../../fuzz-target.ts';
import { expectPlain } from './values.ts';

const annotations = Buffer.from(
  'annotations:\n  operators.operatorframework.io.bundle.package.v1: example\n',
);

/** registry+v1 bundles: a ClusterServiceVersion, and the files beside it. */
export const registryBundles: FuzzTarget = {
  name: 'registry-bundles',
  seeds: [
    `apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata:
  name: example.v1.0.0
  annotations: {olm.targetNamespaces: "", a: "1"}
spec:
  installModes:
  - {type: AllNamespaces, supported: true}
  - {type: OwnNamespace, supported: false}
  minKubeVersion: 1.20.0
  customresourcedefinitions:
    owned:
    - {name: widgets.example.com, version: v1, kind: Widget}
  webhookdefinitions:
  - type: ValidatingAdmissionWebhook
    deploymentName: manager
    generateName: v.example.com
    webhookPath: /validate
    containerPort: 443
    targetPort: 9443
    sideEffects: None
    failurePolicy: Fail
    admissionReviewVersions: [v1]
    rules:
    - {apiGroups: [example.com], apiVersions: [v1], operations: [CREATE], resources: [widgets]}
  install:
    strategy: deployment
    spec:
      permissions:
      - serviceAccountName: manager
        rules: [{apiGroups: [""], resources: [configmaps], verbs: [get]}]
      clusterPermissions:
      - serviceAccountName: manager
        rules: [{nonResourceURLs: [/metrics], verbs: [get]}]
      deployments:
      - name: manager
        label: {a: b}
        spec:
          replicas: 1
          selector: {matchLabels: {app: m}}
          template:
            metadata: {labels: {app: m}}
            spec:
              serviceAccountName: manager
              containers: [{name: m, image: example.com/m:1, env: [{name: A, value: b}]}]
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  names: {kind: Widget, plural: widgets}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
---
apiVersion: v1
kind: Service
metadata: {name: extra}
spec: {ports: [{port: 1}]}
`,
  ],
  words: [
    'null',
    '[]',
    '{}',
    '1',
    '"x"',
    'true',
    '- ',
    'type: ConversionWebhook',
    'conversionCRDs: [widgets.example.com]',
  ].concat([
    'kind: Secret',
    'kind: Unknown',
    'supported: true',
    'AllNamespaces',
    'MultiNamespace',
    '1.99.0',
  ]),
  refusals: [TerminalError],
  lineBreaks: /\n(?=and (?:[1-9]\d* more|other) problems?[:,.]|- )/g,
  read(input) {
    const objects = convertRegistryBundle({
      files: new Map([
        ['manifests/a.yaml', input],
        ['metadata/annotations.yaml', annotations],
      ]),
      directories: new Set(['manifests', 'metadata']),
    });
    for (const object of objects) expectPlain(object);
  },
};
