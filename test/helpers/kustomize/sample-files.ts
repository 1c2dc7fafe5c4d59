/** Manifests that the sample trees share. */
export const web = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: {app: web}
spec:
  replicas: 1
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web}
    spec:
      serviceAccountName: web
      imagePullSecrets:
        - name: pull
      initContainers:
        - name: init
          image: registry.example.com:5000/tools/init:v1
      containers:
        - name: main
          image: example.com/web:v1
          args: [serve]
          env:
            - name: LEVEL
              valueFrom:
                configMapKeyRef: {name: settings, key: level}
            - name: TOKEN
              valueFrom:
                secretKeyRef: {name: access, key: token}
          envFrom:
            - configMapRef: {name: settings}
            - secretRef: {name: access}
          ports:
            - {name: http, containerPort: 8080}
          volumeMounts:
            - {name: settings, mountPath: /etc/settings}
      volumes:
        - name: settings
          configMap: {name: settings}
        - name: access
          secret: {secretName: access}
        - name: both
          projected:
            sources:
              - configMap: {name: settings}
              - secret: {name: access}
        - name: data
          persistentVolumeClaim: {claimName: data}
`;

export const settings = `apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
data:
  level: info
`;

export const service = `apiVersion: v1
kind: Service
metadata:
  name: web
spec:
  selector: {app: web}
  ports:
    - {name: http, port: 80, targetPort: http}
`;

export const access = `apiVersion: v1
kind: Secret
metadata:
  name: access
stringData:
  token: "1234"
---
apiVersion: v1
kind: Secret
metadata:
  name: pull
type: kubernetes.io/dockerconfigjson
stringData:
  .dockerconfigjson: "{}"
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: web
imagePullSecrets:
  - name: pull
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: data
spec:
  accessModes: [ReadWriteOnce]
  storageClassName: fast
  resources: {requests: {storage: 1Gi}}
`;

export const roles = `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: web
rules:
  - apiGroups: [""]
    resources: [configmaps, secrets]
    resourceNames: [settings, access, other]
    verbs: [get]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: web
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: web}
subjects:
  - {kind: ServiceAccount, name: web}
  - {kind: ServiceAccount, name: default}
  - {kind: User, name: someone}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: web
rules: []
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: web
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: web}
subjects:
  - {kind: ServiceAccount, name: web, namespace: default}
  - {kind: ServiceAccount, name: web, namespace: elsewhere}
`;

/** Kinds without a namespace, and kinds with references of their own. */
export const others = `apiVersion: v1
kind: Namespace
metadata:
  name: somewhere
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: gauges.example.com
spec:
  group: example.com
  names: {kind: Gauge, plural: gauges}
  scope: Namespaced
  versions: []
  conversion:
    strategy: Webhook
    webhook:
      clientConfig:
        service: {name: web, namespace: default}
---
apiVersion: example.com/v1
kind: Gauge
metadata:
  name: one
spec:
  settings: settings
  template:
    spec:
      containers:
        - {name: a, image: "example.com/web:v1"}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: web
spec:
  maxReplicas: 3
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: web
  annotations:
    nginx.ingress.kubernetes.io/auth-secret: access
spec:
  tls:
    - secretName: access
  rules:
    - http:
        paths:
          - path: /
            pathType: Prefix
            backend:
              service: {name: web, port: {name: http}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: web
webhooks:
  - name: web.example.com
    clientConfig:
      service: {name: web, namespace: default, path: /check}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: web
spec:
  minAvailable: 1
  selector:
    matchLabels: {app: web}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: web
spec:
  podSelector:
    matchLabels: {app: web}
  ingress:
    - from:
        - podSelector:
            matchLabels: {app: front}
        - namespaceSelector: {}
  egress:
    - to:
        - podSelector: {}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata:
  name: fast
provisioner: example.com/none
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata:
  name: high
value: 10
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata:
  name: v1.example.com
spec:
  service: {name: web, namespace: default}
  group: example.com
  version: v1
`;

/** Controllers of pods of every kind. */
export const workloads = ['StatefulSet', 'DaemonSet', 'ReplicaSet']
  .map(
    (kind) => `apiVersion: apps/v1
kind: ${kind}
metadata:
  name: ${kind.toLowerCase()}
spec:
  ${kind === 'StatefulSet' ? 'serviceName: web' : 'minReadySeconds: 1'}
  selector:
    matchLabels: {app: x}
  template:
    metadata:
      labels: {app: x}
    spec:
      serviceAccountName: web
      priorityClassName: high
      topologySpreadConstraints:
        - labelSelector:
            matchLabels: {app: x}
      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            - labelSelector:
                matchLabels: {app: x}
              topologyKey: a
          preferredDuringSchedulingIgnoredDuringExecution:
            - weight: 1
              podAffinityTerm:
                labelSelector:
                  matchLabels: {app: x}
                topologyKey: a
      containers:
        - {name: main, image: web@sha256:${'0'.repeat(64)}, envFrom: [{configMapRef: {name: settings}}]}
${kind === 'StatefulSet' ? '  volumeClaimTemplates:\n    - metadata: {name: data}\n      spec: {storageClassName: fast}\n' : ''}---
`,
  )
  .concat(
    `apiVersion: batch/v1
kind: CronJob
metadata:
  name: nightly
spec:
  schedule: "0 0 * * *"
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          serviceAccountName: web
          containers:
            - {name: main, image: web, env: [{name: A, valueFrom: {secretKeyRef: {name: access, key: token}}}]}
---
apiVersion: batch/v1
kind: Job
metadata:
  name: once
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
        - {name: main, image: "web:v1"}
---
apiVersion: v1
kind: Pod
metadata:
  name: alone
spec:
  serviceAccountName: web
  containers:
    - {name: main, image: "web:v1", envFrom: [{secretRef: {name: access}}]}
`,
  )
  .join('');
