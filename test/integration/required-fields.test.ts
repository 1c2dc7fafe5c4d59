import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { gvkOf } from '../../api/gvk.ts';
import { stringifyJson } from '../../api/json.ts';
import type { KubernetesObject } from '../../api/meta.ts';
import { validateBundle } from '../../catalog/bundle-checks/index.ts';
import { connect, type KubeConnection } from '../../core/platform/kube/index.ts';
import { plane } from '../helpers/plane.ts';
import { aTree } from '../helpers/registry-bundle.ts';

/** Kinds that bundles have, with as many of their required fields as there are. */
const samples = `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: a}
spec:
  serviceName: a
  selector: {matchLabels: {a: a}, matchExpressions: [{key: b, operator: DoesNotExist}]}
  volumeClaimTemplates: [{metadata: {name: d}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}, dataSource: {kind: PersistentVolumeClaim, name: x}}}]
  template:
    metadata: {labels: {a: a}}
    spec:
      securityContext: {sysctls: [{name: net.ipv4.tcp_syncookies, value: "1"}], seccompProfile: {type: RuntimeDefault}}
      hostAliases: [{ip: 127.0.0.1, hostnames: [a]}]
      readinessGates: [{conditionType: a/b}]
      affinity:
        nodeAffinity:
          preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {matchExpressions: [{key: a, operator: Exists}]}}]
          requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Exists}]}]}
        podAntiAffinity:
          preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {topologyKey: a}}]
      topologySpreadConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: DoNotSchedule}]
      containers:
        - name: a
          image: a
          ports: [{containerPort: 1}]
          env: [{name: A, valueFrom: {secretKeyRef: {name: a, key: a}}}, {name: B, valueFrom: {configMapKeyRef: {name: a, key: a}}}, {name: C, valueFrom: {fieldRef: {fieldPath: metadata.name}}}, {name: D, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}]
          volumeMounts: [{name: v, mountPath: /v}]
          volumeDevices: [{name: d, devicePath: /d}]
          resizePolicy: [{resourceName: cpu, restartPolicy: NotRequired}]
          livenessProbe: {httpGet: {port: 1, httpHeaders: [{name: A, value: a}]}}
          readinessProbe: {tcpSocket: {port: 1}}
          startupProbe: {grpc: {port: 1}}
          lifecycle: {preStop: {sleep: {seconds: 1}}}
      volumes:
        - {name: v, hostPath: {path: /a}}
        - {name: s, secret: {secretName: a, items: [{key: a, path: a}]}}
        - {name: p, projected: {sources: [{serviceAccountToken: {path: a}}]}}
        - {name: c, csi: {driver: a}}
        - {name: n, nfs: {server: a, path: /a}}
        - {name: g, persistentVolumeClaim: {claimName: a}}
        - {name: w, downwardAPI: {items: [{path: a, fieldRef: {fieldPath: metadata.name}}]}}
        - {name: i, iscsi: {targetPortal: 10.0.0.1, iqn: iqn.2001-04.com.example:a, lun: 0}}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: a}
spec:
  maxReplicas: 2
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: a}
  metrics:
    - {type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 5}}}
    - {type: Pods, pods: {metric: {name: a}, target: {type: AverageValue, averageValue: 1}}}
    - {type: Object, object: {describedObject: {kind: Service, name: a}, metric: {name: a}, target: {type: Value, value: 1}}}
    - {type: External, external: {metric: {name: a}, target: {type: Value, value: 1}}}
    - {type: ContainerResource, containerResource: {name: cpu, container: a, target: {type: Utilization, averageUtilization: 5}}}
  behavior: {scaleUp: {policies: [{type: Pods, value: 1, periodSeconds: 1}]}}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: a}
spec:
  defaultBackend: {service: {name: a, port: {number: 1}}}
  rules: [{host: a, http: {paths: [{path: /, pathType: Prefix, backend: {resource: {apiGroup: a, kind: A, name: a}}}]}}]
---
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {name: a}
spec: {controller: a/a, parameters: {kind: A, name: a}}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: a}
spec: {podSelector: {}, ingress: [{from: [{ipBlock: {cidr: 10.0.0.0/8}}], ports: [{port: 1}]}]}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: a}
spec: {minAvailable: 1, selector: {matchLabels: {a: a}}}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: a}
provisioner: a/a
allowedTopologies: [{matchLabelExpressions: [{key: a, values: [a]}]}]
---
apiVersion: storage.k8s.io/v1
kind: CSIDriver
metadata: {name: a}
spec: {tokenRequests: [{audience: a}]}
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: a}
value: 1
---
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: a}
handler: a
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.a.example.com}
spec: {group: a.example.com, version: v1, groupPriorityMinimum: 1, versionPriority: 1, insecureSkipTLSVerify: true, service: {name: a, namespace: a}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: a}
webhooks: [{name: a.example.com, admissionReviewVersions: [v1], sideEffects: None, clientConfig: {service: {name: a, namespace: a}}, rules: [{apiGroups: [a], apiVersions: [v1], operations: [CREATE], resources: [a]}], matchConditions: [{name: a, expression: "true"}]}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: a}
webhooks: [{name: a.example.com, admissionReviewVersions: [v1], sideEffects: None, clientConfig: {url: "https://a.example.com"}}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: a}
spec: {paramKind: {apiVersion: v1, kind: ConfigMap}, validations: [{expression: "true"}], auditAnnotations: [{key: a, valueExpression: "'a'"}], variables: [{name: a, expression: "1"}], matchConstraints: {resourceRules: [{apiGroups: [a], apiVersions: [v1], operations: [CREATE], resources: [a]}]}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: a}
spec: {policyName: a, validationActions: [Deny], paramRef: {name: a, parameterNotFoundAction: Deny}}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: a}
addressType: IPv4
endpoints: [{addresses: [10.0.0.1], hints: {forZones: [{name: a}]}}]
ports: [{name: a, port: 1}]
---
apiVersion: v1
kind: Endpoints
metadata: {name: a}
subsets: [{addresses: [{ip: 10.0.0.1}], ports: [{port: 1}]}]
---
apiVersion: v1
kind: LimitRange
metadata: {name: a}
spec: {limits: [{type: Container, max: {cpu: 1}}]}
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: a}
spec: {hard: {pods: 1}, scopeSelector: {matchExpressions: [{scopeName: BestEffort, operator: Exists}]}}
---
apiVersion: v1
kind: Service
metadata: {name: a}
spec: {ports: [{port: 1}]}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: a}
spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], csi: {driver: a, volumeHandle: a}, nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Exists}]}]}}}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: b}
spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], storageClassName: a, local: {path: /a}, nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Exists}]}]}}}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: a}
spec:
  schedule: "* * * * *"
  jobTemplate: {spec: {podFailurePolicy: {rules: [{action: Ignore, onPodConditions: [{type: DisruptionTarget, status: "True"}]}, {action: FailJob, onExitCodes: {operator: In, values: [1]}}]}, template: {spec: {restartPolicy: Never, containers: [{name: a, image: a}]}}}}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: a}
spec: {selector: {matchLabels: {a: a}}, template: {metadata: {labels: {a: a}}, spec: {containers: [{name: a, image: a}]}}}
---
apiVersion: apps/v1
kind: ControllerRevision
metadata: {name: a}
revision: 1
data: {a: 1}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: a}
rules: [{apiGroups: [a], resources: [a], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: a}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: a}
subjects: [{kind: ServiceAccount, name: a, namespace: a}]
---
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: a}
spec: {holderIdentity: a}
---
apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: FlowSchema
metadata: {name: a}
spec: {priorityLevelConfiguration: {name: a}, distinguisherMethod: {type: ByUser}, rules: [{subjects: [{kind: User, user: {name: a}}, {kind: Group, group: {name: a}}, {kind: ServiceAccount, serviceAccount: {name: a, namespace: a}}], resourceRules: [{apiGroups: [a], resources: [a], verbs: [get], clusterScope: true}], nonResourceRules: [{nonResourceURLs: [/a], verbs: [get]}]}]}
---
apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: PriorityLevelConfiguration
metadata: {name: a}
spec: {type: Limited, limited: {limitResponse: {type: Queue, queuing: {queues: 8}}}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: as.a.example.com}
spec:
  group: a.example.com
  names: {kind: A, plural: as}
  scope: Namespaced
  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {service: {name: a, namespace: a}}}}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, x-kubernetes-validations: [{rule: "true"}], properties: {replicas: {type: integer}}}}}}, subresources: {scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}}, additionalPrinterColumns: [{name: A, type: string, jsonPath: .spec}], selectableFields: [{jsonPath: .spec.replicas}]}]
`;

type Json = Readonly<Record<string, unknown>>;

/** The object without one of its fields, for each of them at any depth. */
function* lessened(value: unknown, path: readonly string[] = []): Generator<[string, unknown]> {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, child] of Object.entries(value)) {
    const place = [...path, key];
    if (!Array.isArray(value)) {
      const { [key]: _, ...rest } = value as Json;
      yield [place.join('.'), rest];
    }
    for (const [name, less] of lessened(child, place)) {
      yield [
        name,
        Array.isArray(value) ? value.with(Number(key), less) : { ...(value as Json), [key]: less },
      ];
    }
  }
}

const samplesWithout = parseAllDocuments(samples).flatMap((document) => {
  const whole = document.toJS() as KubernetesObject;
  return [...lessened(whole)]
    .map(([field, object]) => ({ field, object: object as KubernetesObject }))
    .filter(({ field }) => !/^(?:apiVersion|kind|metadata|metadata\.name)$/.test(field))
    .map(({ field, object }) => ({ title: `${whole.kind} without ${field}`, object }));
});

function errorsOf(object: KubernetesObject): readonly string[] {
  const { problems } = validateBundle(aTree({ 'manifests/a.yaml': stringifyJson(object) }));
  return problems.filter(({ severity }) => severity === 'error').map(({ message }) => message);
}

let kube: KubeConnection;

beforeAll(() => {
  kube = connect({ kubeconfig: plane.kubeconfig, userAgent: 'required-fields-test' });
});

afterAll(async () => await kube.close());

/** What the API server says of it; undefined if it takes it. */
async function refusal(object: KubernetesObject): Promise<string | undefined> {
  const { group, version, kind } = gvkOf(object);
  const resource = await kube.discovery.resourceForGroupKind(group, kind);
  if (resource?.version !== version)
    throw new Error(`${kind} of ${group}/${version} is not served`);
  const { metadata } = object;
  const inside = resource.namespaced ? { ...metadata, namespace: 'default' } : metadata;
  return await kube.client
    .apply(resource, { ...object, metadata: inside }, { fieldManager: 'test', dryRun: true })
    .then(() => undefined, String);
}

test('the API server takes the samples, and validate finds no error in them', async () => {
  for (const document of parseAllDocuments(samples)) {
    const object = document.toJS() as KubernetesObject;
    expect(errorsOf(object)).toEqual([]);
    expect(await refusal(object)).toBeUndefined();
  }
});

test('of a field that validate misses, the API server refuses the lack', async () => {
  const refused = samplesWithout.filter(({ object }) =>
    errorsOf(object).some((message) => message.includes('requires it')),
  );
  expect(refused.length).toBeGreaterThan(120);
  const taken: string[] = [];
  for (const { title, object } of refused) {
    if ((await refusal(object)) === undefined) taken.push(title);
  }
  expect(taken).toEqual([]);
});
