/** Custom resources of the operator, in versions v1alpha1 and v1. */
export const widgetApi = {
  group: 'widgets.e2e.example.com',
  plural: 'widgets',
  crd: 'widgets.widgets.e2e.example.com',
} as const;

/** The API that the operator serves itself. */
export const gaugeApi = {
  group: 'gauges.e2e.example.com',
  version: 'v1',
  kind: 'Gauge',
  plural: 'gauges',
} as const;

/** Of the Service in front of it. */
export const ports = { webhooks: 8443, api: 5443 } as const;
