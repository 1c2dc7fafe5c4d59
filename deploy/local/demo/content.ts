export const fromGit = {
  'README.md': 'The demo serves this repository; the bundle is in deploy/.\n',
  'deploy/manifests/config.yaml': `apiVersion: v1
kind: ConfigMap
metadata:
  name: from-git
  namespace: default
data:
  source: a tag of a git repository
`,
};

const greetingCRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: greetings.demo.example.com
spec:
  group: demo.example.com
  scope: Namespaced
  names: { kind: Greeting, listKind: GreetingList, plural: greetings, singular: greeting }
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              properties: { to: { type: string } }
`;

const greeterCSV = `apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata:
  name: greeter.v1.0.0
spec:
  displayName: Greeter
  version: 1.0.0
  installModes:
    - { type: AllNamespaces, supported: true }
  customresourcedefinitions:
    owned:
      - { name: greetings.demo.example.com, kind: Greeting, version: v1 }
  install:
    strategy: deployment
    spec:
      clusterPermissions:
        - serviceAccountName: greeter
          rules:
            - apiGroups: [demo.example.com]
              resources: [greetings]
              verbs: [get, list, watch]
      deployments:
        - name: greeter
          label: { app: greeter }
          spec:
            replicas: 1
            selector:
              matchLabels: { app: greeter }
            template:
              metadata:
                labels: { app: greeter }
              spec:
                serviceAccountName: greeter
                containers:
                  - name: main
                    image: registry.example.com/greeter:1.0.0
`;

export const greeter = {
  'metadata/annotations.yaml': `annotations:
  operators.operatorframework.io.bundle.mediatype.v1: registry+v1
  operators.operatorframework.io.bundle.manifests.v1: manifests/
  operators.operatorframework.io.bundle.metadata.v1: metadata/
  operators.operatorframework.io.bundle.package.v1: greeter
  operators.operatorframework.io.bundle.channels.v1: stable
`,
  'manifests/greeter.clusterserviceversion.yaml': greeterCSV,
  'manifests/greetings.crd.yaml': greetingCRD,
};
