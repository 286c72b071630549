interface Props { title: string }

export const View = ({ title }: Props) => <div className="a">{title}</div>;

export default function App() {
  return <View title="x" />;
}
