/** What the API server says of names that are none; rules and texts are Kubernetes'. */

const subdomain = '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*';
const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const labelValue = '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?';

const texts = {
  subdomain: `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${subdomain}')`,
  label: `a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')`,
  labelValue: `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '${labelValue}')`,
};

const patterns = {
  subdomain: new RegExp(`^${subdomain}$`),
  label: new RegExp(`^(?=[a-z])${label}$`),
  labelValue: new RegExp(`^${labelValue}$`),
};

const lengths = { subdomain: 253, label: 63, labelValue: 63 };

/** Everything that keeps a text from being such a name; empty where nothing does. */
export function nameProblems(kind: keyof typeof texts, name: string): readonly string[] {
  return [
    ...(name.length > lengths[kind] ? [`must be no more than ${lengths[kind]} characters`] : []),
    ...(patterns[kind].test(name) ? [] : [texts[kind]]),
  ];
}
