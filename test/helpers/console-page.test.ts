import { expect, test } from 'vitest';
import { consoleSteps, shownPattern } from './console-page.ts';

const page = `# A page

\`\`\`sh
not run
\`\`\`

## First

\`\`\`console
$ cat > a <<'EOF'
> one
> two
> EOF
$ cat a
one
two
\`\`\`

## Second

\`\`\`console
$ echo \${x:-nothing} | sort
nothing
\`\`\`
`;

test('commands with their output, in order', () => {
  expect(consoleSteps(page)).toEqual([
    { section: 'First', command: "cat > a <<'EOF'\none\ntwo\nEOF", shown: '' },
    { section: 'First', command: 'cat a', shown: 'one\ntwo\n' },
    { section: 'Second', command: 'echo ${x:-nothing} | sort', shown: 'nothing\n' },
  ]);
});

test.each([
  ['a (b) [c]\n', 'a (b) [c]\n', true],
  ['a\n…\nd\n', 'a\nb\nc\nd\n', true],
  ['a\n…\nd\n', 'a\nd\n', true],
  ['in … ms\n', 'in 12 ms\n', true],
  ['a\n', 'a\nb\n', false],
  ['a…c\n', 'a\nc\n', false],
])('%j shows %j: %s', (shown, printed, is) => {
  expect(shownPattern(shown).test(printed)).toBe(is);
});
