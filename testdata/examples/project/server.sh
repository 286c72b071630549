echo "listening on 8000"
while read -r line; do
	echo "heard $line"
done
